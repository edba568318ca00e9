package signal

import (
	"cmp"
)

// NoticeKind is the kind of the records through which operations announce what
// no other record tells: a notice announces whenever it is written. There is one
// per command and subject, so that they do not pile up.
const NoticeKind = "notice"

// Notice is an announcement as a record.
type Notice struct {
	Command Command `json:"command"`
	Payload string  `json:"payload"`
	// Of commands whose payload is secret: what the notice is about, and the encrypted
	// payload.
	Subject string `json:"subject,omitempty"`
	Secret  string `json:"secret,omitempty"`
}

// The indexes of notices.
const (
	noticeCommand = "command"
	noticePayload = "payload"
)

// ID returns the one identifier of notices like n.
func (n Notice) ID() string { return string(n.Command) + ":" + cmp.Or(n.Subject, n.Payload) }

// Keys returns what announcing needs to know, by index.
func (n Notice) Keys() map[string]string {
	return map[string]string{noticeCommand: string(n.Command), noticePayload: cmp.Or(n.Secret, n.Payload)}
}

// commands are those that a notice can carry.
var commands = []Command{
	ApiAdded, ApiUpdated, ApiRemoved, PolicyChanged, GroupReload, ClientIdPChanged,
	DeleteAPICache, InvalidateJWKSCacheForAPI, KeySpaceUpdateNotification, OAuthPurgeLapsedTokens, UserKeyReset,
}

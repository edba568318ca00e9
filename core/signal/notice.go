package signal

import (
	"cmp"
)

// NoticeKind is the kind of the records by which an operation announces a change that no other
// record shows. Each write of a notice is announced. There is one notice per command and
// subject, so that they do not accumulate.
const NoticeKind = "notice"

// Notice is an announcement as a record.
type Notice struct {
	Command Command `json:"command"`
	Payload string  `json:"payload"`
	// For commands with a secret payload: the subject of the notice, and the encrypted payload.
	Subject string `json:"subject,omitempty"`
	Secret  string `json:"secret,omitempty"`
}

// The indexes of notices.
const (
	noticeCommand = "command"
	noticePayload = "payload"
)

// ID returns the identifier that all notices with the command and subject of n share.
func (n Notice) ID() string { return string(n.Command) + ":" + cmp.Or(n.Subject, n.Payload) }

// Keys returns the values that announcing needs, by index.
func (n Notice) Keys() map[string]string {
	return map[string]string{noticeCommand: string(n.Command), noticePayload: cmp.Or(n.Secret, n.Payload)}
}

// commands are the commands that a notice can have.
var commands = []Command{
	ApiAdded, ApiUpdated, ApiRemoved, PolicyChanged, GroupReload, ClientIdPChanged,
	DeleteAPICache, InvalidateJWKSCacheForAPI, KeySpaceUpdateNotification, OAuthPurgeLapsedTokens, UserKeyReset,
}

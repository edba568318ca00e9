package gatewaysim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Channel is the Redis channel of notifications (docs/wire/announcements.md#message).
const Channel = "tyk.cluster.notifications"

const sha256Algorithm = 5 // number that stands for SHA-256 in a message

// message is a notification; a payload that is not a string makes it malformed.
type message struct {
	Command   string `json:"command"`
	Payload   string `json:"payload"`
	Signature string `json:"signature"`
	Algorithm int    `json:"algorithm"`
}

// Signature returns the signature of a notification: lower-case hexadecimal
// SHA-256 of command, payload and node secret (docs/wire/announcements.md#message).
func Signature(command, payload, nodeSecret string) string {
	sum := sha256.Sum256([]byte(command + payload + nodeSecret))
	return hex.EncodeToString(sum[:])
}

// effects are the known commands of docs/wire/announcements.md#commands with the gateway's
// reaction; nil if it is not simulated.
var effects = map[string]func(*process, string){
	"ApiUpdated":    func(p *process, _ string) { p.wantReload() },
	"ApiAdded":      func(p *process, _ string) { p.wantReload() },
	"ApiRemoved":    func(p *process, _ string) { p.wantReload() },
	"PolicyChanged": func(p *process, _ string) { p.wantReload() },
	"GroupReload":   func(p *process, _ string) { p.wantReload() },

	"ClientIdPChanged":          func(p *process, _ string) { p.wantIdPs() },
	"InvalidateJWKSCacheForAPI": func(p *process, api string) { p.jwks.drop(api) },

	"DeleteAPICache": nil, "KeySpaceUpdateNotification": nil, "OAuthPurgeLapsedTokens": nil,
	"UserKeyReset": nil, "NoticeDashboardZeroConf": nil, "NoticeConfigUpdated": nil,
	"NoticeDashboardConfigRequest": nil, "NoticeGatewayDRLNotification": nil,
}

// wantIdPs requests a refresh of the registry after the debounce.
func (p *process) wantIdPs() {
	select {
	case p.idpDue <- struct{}{}:
	default:
	}
}

// receive checks one message and executes it.
func (p *process) receive(raw string) {
	var m message
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		p.failed("notification", errors.New("malformed"))
		p.count("", func(n *Notification) { n.Rejected++ })
		return
	}
	effect, known := effects[m.Command]
	switch {
	case m.Command == "NoticeGatewayConfigResponse": // from gateway to dashboard, unchecked
		p.count(m.Command, func(n *Notification) { n.Ignored++ })
	case !p.cfg.AllowInsecure && (m.Algorithm != sha256Algorithm || m.Signature != Signature(m.Command, m.Payload, p.cfg.NodeSecret)):
		p.failed("notification "+m.Command, errors.New("payload signature is invalid"))
		p.count(m.Command, func(n *Notification) { n.Rejected++ })
	case !known:
		p.failed("notification "+m.Command, errors.New("unknown command"))
		p.count(m.Command, func(n *Notification) { n.Ignored++ })
	default:
		if effect != nil {
			effect(p, m.Payload)
		}
		p.count(m.Command, func(n *Notification) { n.Accepted++ })
	}
}

func (p *process) count(command string, change func(*Notification)) {
	p.update(func(s *State) {
		n := s.Notifications[command]
		n.Received++
		change(&n)
		s.Notifications[command] = n
	})
}

// listen keeps the subscription open until the process ends. Messages published while it is down
// are lost: pub/sub stores nothing.
func (p *process) listen() {
	client := redis.NewClient(&redis.Options{
		Addr: p.cfg.Redis.Addr, Username: p.cfg.Redis.Username,
		Password: p.cfg.Redis.Password, DB: p.cfg.Redis.DB,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	defer client.Close()
	for {
		err := p.subscribe(client)
		p.update(func(s *State) { s.Subscribed = false })
		p.failed("redis", err)
		if !p.sleep(p.cfg.Intervals.RedisRetry) {
			return
		}
	}
}

// subscribe receives until the connection fails or the process ends.
func (p *process) subscribe(client *redis.Client) error {
	sub := client.Subscribe(p.ctx, Channel)
	defer sub.Close()
	stop := context.AfterFunc(p.ctx, func() { _ = sub.Close() }) // a blocked read ignores the context
	defer stop()
	for pinged := false; ; {
		got, err := sub.ReceiveTimeout(p.ctx, p.cfg.Intervals.RedisCheck)
		timeout, ok := errors.AsType[net.Error](err)
		if ok && timeout.Timeout() && !pinged {
			if err := sub.Ping(p.ctx); err != nil {
				return err
			}
			pinged = true
			continue
		}
		if err != nil {
			return err
		}
		pinged = false
		switch got := got.(type) {
		case *redis.Subscription:
			p.update(func(s *State) { s.Subscribed = true; s.Subscriptions++ })
		case *redis.Message:
			p.receive(got.Payload)
		}
	}
}

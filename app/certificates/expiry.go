package certificates

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/reports"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Expiry configures the notifications about certificates that expire. The zero Expiry
// has the defaults.
type Expiry struct {
	Every time.Duration // how old the cached certificates may become; default an hour
	Days  int           // how many days before a certificate expires there is a notification; default 30
}

const (
	day = 24 * time.Hour
	// pause is for how long gateways are not called again after they did not respond.
	pause = 10 * time.Second
	// mostKnown is how many organisations are cached.
	mostKnown = 1000
	topic     = "certificate.expiry"
)

// known is a cache of the certificates of organisations.
type known struct {
	mu   sync.Mutex
	orgs map[tenant.ID]*listing
}

// listing is the cached certificates of an organisation.
type listing struct {
	mu   sync.Mutex // held during the call of a gateway: other callers wait for the same response
	at   time.Time  // when a gateway was called that responded; zero: never
	next time.Time  // when gateways may be called again; zero: at any time
	list []certificate.Basics
	err  error // of the last call, if no call succeeded yet
}

// of returns the listing of an organisation. A new one is empty.
func (k *known) of(org tenant.ID) *listing {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.orgs[org]
	if l == nil {
		for other := range k.orgs { // any of them: organisations that are needed are added again
			if len(k.orgs) < mostKnown {
				break
			}
			delete(k.orgs, other)
		}
		l = &listing{}
		k.orgs[org] = l
	}
	return l
}

// forget removes an organisation from the cache, so that the next call asks the
// gateways.
func (k *known) forget(org tenant.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.orgs, org)
}

// current returns the certificates of an organisation. It calls a gateway if they are
// not cached, or too old, or if refresh is set. If gateways do not respond, it returns
// the cached ones. Callers who refresh during a call of a gateway share the response to
// the next call, so that many of them do not cause many calls.
func (s *Service) current(ctx context.Context, org tenant.ID, refresh bool) ([]certificate.Basics, error) {
	l, came := s.known.of(org), s.APIs.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := s.APIs.Now()
	old := l.at.IsZero() || refresh && !l.at.After(came) || now.Sub(l.at) >= cmp.Or(s.Expiry.Every, time.Hour)
	if !old || now.Before(l.next) {
		return l.list, l.err
	}
	list, err := s.Gateways.ListCertificates(ctx, org)
	if err != nil {
		l.next = now.Add(pause)
		if l.at.IsZero() {
			l.err = answered(err)
		} else { // no request fails, so nothing else tells operators
			s.Log.WarnContext(ctx, "certificates cannot be looked at: what was known counts", "error", err)
		}
		return l.list, l.err
	}
	l.list, l.at, l.next, l.err = list, now, time.Time{}, nil
	return list, nil
}

// ExpiryData says which certificate expires, and when.
type ExpiryData struct {
	ID   string    `json:"cert_id"`
	End  time.Time `json:"expiry_date"`
	Days int       `json:"days_remaining"`
}

// Notifications implements reports.Source.
func (s *Service) Notifications(ctx context.Context, scope tenant.Scope, refresh bool) ([]reports.Notification, error) {
	org := scope.Org()
	list, err := s.current(ctx, org, refresh)
	if err != nil {
		return nil, err
	}
	var out []reports.Notification
	now, soon := s.APIs.Now(), time.Duration(cmp.Or(s.Expiry.Days, 30))*day
	for _, c := range list {
		if c.NotAfter.IsZero() || c.NotAfter.Sub(now) > soon {
			continue
		}
		// The ID and the hash are computed from the content. So they are the same in every process, and
		// change when the certificate expires.
		days := int(c.NotAfter.Sub(now) / day)
		n := reports.Notification{
			OrgID: org, Kind: reports.Warning, Topic: topic, Created: c.NotAfter.Add(-soon).UTC(), Title: "Certificate will expire soon",
			Message: fmt.Sprintf("Certificate with ID %s will expire in less than %d days", c.ID, days+1),
			Data:    ExpiryData{c.ID, c.NotAfter, days},
		}
		if n.Created.Before(c.NotBefore) && !c.NotBefore.After(now) { // a notification must not be dated in the future
			n.Created = c.NotBefore
		}
		if !c.NotAfter.After(now) {
			n.Kind, n.Created, n.Title = reports.Critical, c.NotAfter, "Certificate has expired"
			n.Message, n.Data = fmt.Sprintf("Certificate with ID %s has expired", c.ID), ExpiryData{c.ID, c.NotAfter, 0}
		}
		sum := sha256.Sum256([]byte(string(n.Kind) + "\n" + c.ID + "\n" + c.NotAfter.UTC().Format(time.RFC3339)))
		n.ID = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
		n.Hash = strconv.FormatUint(binary.BigEndian.Uint64(sum[16:24]), 10)
		out = append(out, n)
	}
	return out, nil
}

package gateway

import "errors"

// Control is the control API of the gateways of an installation: what lives in their
// own store, and not in ours (docs/wire/gateway-control.md).
type Control struct {
	Keys         Keys
	Clients      Clients
	Certificates Certificates
	Installation Installation
}

// Errors of Control, wrapped. Their text is for the log of operators: it may say what
// the gateway said, never a key or a secret.
var (
	// ErrUnknown: the gateway does not have it.
	ErrUnknown = errors.New("the gateway does not have it")
	// ErrForeign: it belongs to another organisation.
	ErrForeign = errors.New("it belongs to another organisation")
	// ErrTaken: the gateway has one already.
	ErrTaken = errors.New("the gateway has one already")
	// ErrRefused: the gateway does not want what is sent; to send it again is of no use.
	ErrRefused = errors.New("the gateway refuses")
	// ErrUnlisted: the gateway does not tell which keys there are. It is an ErrRefused as well.
	ErrUnlisted = errors.New("the gateway lists no keys: enable_hashed_keys_listing of its configuration is off")
	// ErrUnreachable: no gateway answers as it should; nothing has been changed.
	ErrUnreachable = errors.New("no gateway answers as it should")
	// ErrUncertain: a write may have arrived, and no gateway could be asked if it has.
	ErrUncertain = errors.New("no gateway says whether the change has arrived")
)

// Away reports whether no gateway answered as it should, whatever may have arrived there.
func Away(err error) bool { return errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUncertain) }

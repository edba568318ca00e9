package gateway

import "errors"

// Control is the control API of the gateways of an installation: for data that gateways keep
// in their own store (docs/wire/gateway-control.md).
type Control struct {
	Keys         Keys
	Clients      Clients
	Certificates Certificates
	Installation Installation
}

// Errors that Control returns, wrapped. Their text is for the log of operators: it may repeat
// the gateway's message, never a key or a secret.
var (
	// ErrUnknown: the gateway does not have the key, client or certificate.
	ErrUnknown = errors.New("the gateway does not have it")
	// ErrForeign: the key, client or certificate belongs to another organisation.
	ErrForeign = errors.New("it belongs to another organisation")
	// ErrTaken: the gateway has the key or certificate already.
	ErrTaken = errors.New("the gateway has one already")
	// ErrRefused: the gateway rejects the request; sending it again does not help.
	ErrRefused = errors.New("the gateway refuses")
	// ErrUnlisted: the gateway does not list its keys. ErrUnlisted is wrapped with ErrRefused.
	ErrUnlisted = errors.New("the gateway lists no keys: enable_hashed_keys_listing of its configuration is off")
	// ErrUnreachable: no gateway responds as it should; nothing has been changed.
	ErrUnreachable = errors.New("no gateway answers as it should")
	// ErrUncertain: a write may have arrived, and no gateway could be asked whether it has.
	ErrUncertain = errors.New("no gateway says whether the change has arrived")
)

// Away reports whether no gateway responded as it should. A write may have arrived all the
// same.
func Away(err error) bool { return errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUncertain) }

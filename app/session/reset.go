package session

import (
	"context"
	"html/template"
	"net/url"
	"strings"

	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeReset is the code of the fault for a code of a mail that is not valid.
const CodeReset = "login.code"

func (s *Service) resetDigests(code string) []string {
	return s.users.Keys.Digests("reset\x00" + code)
}

// NewPassword is the new password with the code of a mail.
type NewPassword struct {
	Code     string `json:"code" doc:"Code from the mail."`
	Password string `json:"new_password" doc:"The new password."`
	form     bool
}

// Fill implements operation.Form.
func (p *NewPassword) Fill(fields url.Values) {
	p.Code, p.Password, p.form = fields.Get("code"), fields.Get("new_password"), true
}

type resetIn struct {
	New NewPassword `body:""`
}

// Reset sets the password that the user of a code chose, and ends the user's sessions.
// It deletes the code in the same unit of work: of two browsers with one code, only one
// succeeds.
func (s *Service) Reset(ctx context.Context, in resetIn) (operation.Landing, error) {
	found, u, err := s.resettable(ctx, in.New.Code)
	if err != nil {
		return operation.Landing{}, err
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return operation.Landing{}, err
	}
	defer leave()
	hash, err := s.users.Chosen(ctx, u, in.New.Password)
	if err != nil {
		return operation.Landing{}, err
	}
	if _, err := s.users.Store.Update(attributed(ctx, u), users.Home(u), func(w store.Writer) error {
		if _, err := resets.Delete(ctx, w, found.ID, nil); fault.KindOf(err) == fault.NotFound {
			return useless
		} else if err != nil {
			return err
		}
		if _, err := users.Records.Edit(ctx, w, u.ID, nil, func(v identity.User) (identity.User, error) {
			if !found.Fits(v) {
				return v, useless
			}
			return s.users.Choosing(v, hash), nil
		}); err != nil {
			return err
		}
		return EndAll(ctx, w, u.ID)
	}); err != nil {
		return operation.Landing{}, err
	}
	out := operation.Landing{Receipt: operation.Receipt{Message: "User password updated"}, Who: operation.Principal{ID: u.ID, OrgID: u.OrgID}}
	if in.New.form {
		out.Location = s.cfg.LoginURL
	}
	return out, nil
}

// useless is the response to a code that is unknown, used or too old, or whose user has
// changed.
var useless error = fault.New(fault.Unauthenticated, CodeReset, "This code has been used or is too old; ask for another mail")

// resettable returns the reset of a code that can be used, and its user.
func (s *Service) resettable(ctx context.Context, code string) (found session.Reset, u identity.User, err error) {
	err = s.users.Store.View(ctx, tenant.Everyone("forgotten password"), func(r store.Reader) error {
		for _, digest := range s.resetDigests(code) {
			v, err := resets.ByKey(ctx, r, byDigest, digest)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			found = v.Value
			stored, err := users.Records.Locate(ctx, r, found.UserID)
			if fault.KindOf(err) == fault.NotFound {
				return useless
			}
			u = stored.Value
			return err
		}
		return useless
	})
	if err == nil && (found.Over(s.users.Now()) || !found.Fits(u)) {
		err = useless
	}
	if err == nil {
		_, err = s.users.Organisation(ctx, u.OrgID)
		if fault.KindOf(err) == fault.NotFound {
			err = useless
		}
	}
	return found, u, err
}

type resetPageIn struct {
	Code string `query:"code" doc:"Code from the mail."`
}

// page is an HTML page with a form.
type page struct {
	text string
	goes string // where else than here the form may lead: an origin, or ""
}

// Stream implements operation.Stream.
func (p page) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "text/html; charset=utf-8", "", [][]byte{[]byte(p.text)}, nil
}

// Header implements operation.Headed. The page loads and runs nothing, cannot be shown
// in a frame, and its form may be sent only to this service. Some browsers apply this
// also to the redirect that follows the form, so the origin of the login page is
// allowed as well.
func (p page) Header() map[string]string {
	targets := strings.TrimSuffix("'self' "+p.goes, " ")
	return map[string]string{
		"Content-Security-Policy": "default-src 'none'; form-action " + targets + "; base-uri 'none'; frame-ancestors 'none'",
		"X-Frame-Options":         "DENY", // for browsers that do not know frame-ancestors
	}
}

// origin returns the scheme and the host of an absolute web address, or "".
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// ResetPage is the page at the URL in a mail: a form for a new password. It does not
// use the code, so that programs that open links in mails do not use up the code.
func (s *Service) ResetPage(_ context.Context, in resetPageIn) (page, error) {
	var b strings.Builder
	err := resetForm.Execute(&b, in.Code)
	return page{text: b.String(), goes: origin(s.cfg.LoginURL)}, err
}

var resetForm = template.Must(template.New("reset").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Choose another password</title>
</head>
<body>
<main>
<h1>Choose another password</h1>
<form method="post" action="reset" autocomplete="off">
<input type="hidden" name="code" value="{{.}}">
<p><label for="new">New password</label> <input id="new" type="password" name="new_password" autocomplete="new-password" required></p>
<p><button>Save</button></p>
</form>
</main>
</body>
</html>
`))

package mails

import (
	"context"
	"errors"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/render"
)

// inLines converts each text into one line.
func inLines(v any) any {
	switch v := v.(type) {
	case string:
		return letter.Line(v)
	case map[string]any:
		for name, member := range v {
			v[name] = inLines(member)
		}
	case []any:
		for i, one := range v {
			v[i] = inLines(one)
		}
	}
	return v
}

// write renders the message: with the templates of the current theme, or with those of
// the built-in theme if the current one lacks them or they fail.
func (s *Service) write(ctx context.Context, g setting.Settings, m letter.Mail, d Data) (mail.Message, error) {
	n, known := letter.Find(m.Notice)
	if !known {
		return mail.Message{}, errors.New("there is no notice of this name")
	}
	var closer []string
	if n.Name == letter.Invite && d.Admin {
		closer = append(closer, letter.InviteAdmin)
	}
	out := mail.Message{To: m.To, Subject: n.Title(string(g.EmailSubjects), closer...)}
	c, err := s.Content(ctx, s.Scope)
	if err == nil {
		err = s.fill(ctx, &out, c, n, d)
	}
	if err != nil {
		s.Log.Warn("the current theme cannot make a mail; the default one does", "notice", n.Name, "error", err)
		err = s.fill(ctx, &out, s.Standard(), n, d)
	}
	return out, err
}

// fill renders the templates of a mail.
func (s *Service) fill(ctx context.Context, out *mail.Message, c theme.Content, n letter.Notice, d Data) (err error) {
	name := theme.Mailers + n.Name
	html, text := first(c, name+".html"), first(c, name+".text")
	if html == "" && text == "" {
		html = first(c, name)
	}
	if html == "" && text == "" {
		if c = s.Standard(); !c.Has(name + ".html") {
			return errors.New("no theme has the mail")
		}
		html, text = name+".html", name+".text"
	}
	if html != "" {
		if out.HTML, err = s.run(ctx, c, html, first(c, theme.Layouts+"emails.html", theme.Layouts+"emails"), true, d); err != nil {
			return err
		}
	}
	if text != "" {
		out.Text, err = s.run(ctx, c, text, first(c, theme.Layouts+"emails.text"), false, d)
	}
	return err
}

// first returns the first named template that a theme has, or "".
func first(c theme.Content, names ...string) string {
	for _, name := range names {
		if c.Has(name) {
			return name
		}
	}
	return ""
}

// run renders one template with a layout and its partials.
func (s *Service) run(ctx context.Context, c theme.Content, name, layout string, html bool, d Data) (string, error) {
	url := strings.TrimRight(s.URL, "/")
	link := func() string { return d.Link }
	who := func() Person { return d.Person }
	j := render.Job{Name: name, Layout: layout, Data: d.Values, Functions: map[string]any{
		"site": func() string { return url }, "login_url": func() string { return url + "/auth/password/login" },
		"current_user": who, "user": who, "team": func() Team { return Team(d.Team) },
		"reset_password_url": link, "confirm_url": link, "invite_url": link,
	}}
	for _, t := range c.Sources() {
		if t.Name == name || t.Name == layout || strings.HasPrefix(t.Name, theme.Partials) && t.HTML == html {
			t.HTML = html
			j.Templates = append(j.Templates, t)
		}
	}
	out, err := s.Engine.Render(ctx, j)
	return string(out), err
}

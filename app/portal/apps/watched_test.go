package apps_test

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// watched is the dashboard as the process calls it.
type watched struct {
	dashboard.Dashboard
	*fate
	counted []string // keys of the last usage query
}

func (d *watched) Key(ctx context.Context, n dashboard.KeyName) (k dashboard.Key, err error) {
	err = d.meet(func() (err error) { k, err = d.Dashboard.Key(ctx, n); return err })
	return k, err
}

func (d *watched) CreateKey(ctx context.Context, id string, s *doc.Node) (k dashboard.Key, err error) {
	err = d.meet(func() (err error) { k, err = d.Dashboard.CreateKey(ctx, id, s); return err })
	return k, err
}

func (d *watched) ReplaceKey(ctx context.Context, n dashboard.KeyName, s *doc.Node) (k dashboard.Key, err error) {
	err = d.meet(func() (err error) { k, err = d.Dashboard.ReplaceKey(ctx, n, s); return err })
	return k, err
}

func (d *watched) FindCertificate(ctx context.Context, fingerprint string) (id string, err error) {
	err = d.meet(func() (err error) { id, err = d.Dashboard.FindCertificate(ctx, fingerprint); return err })
	return id, err
}

func (d *watched) AddCertificate(ctx context.Context, pem []byte) error {
	return d.meet(func() error { return d.Dashboard.AddCertificate(ctx, pem) })
}

func (d *watched) ReplaceDefinition(ctx context.Context, v dashboard.Definition) error {
	return d.meet(func() error { return d.Dashboard.ReplaceDefinition(ctx, v) })
}

func (d *watched) PutOAuthClient(ctx context.Context, api string, c dashboard.OAuthClient) error {
	return d.meet(func() error { return d.Dashboard.PutOAuthClient(ctx, api, c) })
}

func (d *watched) DeleteOAuthClient(ctx context.Context, api, id string) error {
	return d.meet(func() error { return d.Dashboard.DeleteOAuthClient(ctx, api, id) })
}

func (d *watched) Create(ctx context.Context, n *doc.Node) (ref sync.Ref, err error) {
	err = d.meet(func() (err error) { ref, err = d.Dashboard.Create(ctx, n); return err })
	return ref, err
}

func (d *watched) Replace(ctx context.Context, p dashboard.Policy) error {
	return d.meet(func() error { return d.Dashboard.Replace(ctx, p) })
}

func (d *watched) Delete(ctx context.Context, ref sync.Ref) error {
	return d.meet(func() error { return d.Dashboard.Delete(ctx, ref) })
}

func (d *watched) DeleteKey(ctx context.Context, n dashboard.KeyName) error {
	return d.meet(func() error { return d.Dashboard.DeleteKey(ctx, n) })
}

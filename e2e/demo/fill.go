package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// demo has the addresses and tokens of the running services.
type demo struct {
	dashboard, portal string
	token             string // of the admin of the portal
}

// object is a body of JSON.
type object = map[string]any

var products = []struct{ name, path, text string }{
	{"Payments", "payments", "Take payments in 30 currencies, and give refunds within a day."},
	{"Shipping", "shipping", "Labels, prices and tracking for 40 carriers."},
	{"Identity", "identity", "Find out who somebody is, and how sure you can be."},
	{"Maps", "maps", "Addresses to places, places to addresses."},
	{"Messages", "messages", "Send text messages and mails, and learn whether they have come."},
	{"Invoices", "invoices", "Invoices that the tax office likes."},
}

// fill creates APIs and policies on the dashboard, products in the portal, users, posts,
// and a month of traffic.
func (d *demo) fill(ctx context.Context, traffic string) error {
	var me struct {
		OrgID string `json:"org_id"`
	}
	if err := d.ask(ctx, "GET", d.dashboard+"/api/users/me", key, nil, &me); err != nil {
		return err
	}
	var first struct {
		Data struct {
			Token string `json:"api_token"`
		} `json:"data"`
	}
	if err := d.ask(ctx, "POST", d.portal+"/portal-api/bootstrap", "", object{"username": admin, "password": password, "first_name": "Ada"}, &first); err != nil {
		return err
	}
	d.token = first.Data.Token
	for _, step := range []func(context.Context) error{d.sell, d.write} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return report(ctx, traffic, me.OrgID)
}

// inPortal calls the API of the portal as its admin.
func (d *demo) inPortal(ctx context.Context, path string, body object) error {
	return d.ask(ctx, "POST", d.portal+"/portal-api"+path, d.token, body, nil)
}

// sell creates products of APIs, and plans for them: with immediate access, or with
// approval by an admin.
func (d *demo) sell(ctx context.Context) error {
	where, err := json.Marshal(object{"URL": d.dashboard, "Secret": key})
	if err != nil {
		return err
	}
	if err := d.inPortal(ctx, "/providers", object{"Name": "Dashboard", "Configuration": object{"MetaData": string(where)}}); err != nil {
		return err
	}
	for i, p := range products {
		api := object{"api_definition": object{"name": p.name, "api_id": p.path, "active": true, "use_keyless": false, "auth": object{"auth_header_name": "Authorization"}, "proxy": object{"listen_path": "/" + p.path + "/", "target_url": "https://" + p.path + ".example.com/", "strip_listen_path": true},
			"version_data": object{"not_versioned": true, "versions": object{"Default": object{"name": "Default", "use_extended_paths": true}}}}}
		if err := d.ask(ctx, "POST", d.dashboard+"/api/apis", key, api, nil); err != nil {
			return err
		}
		if err := d.inPortal(ctx, "/products", object{"Name": p.path, "DisplayName": p.name, "Path": p.path, "Description": p.text, "ProviderID": 1, "Feature": i < 3, "Catalogues": []int{1},
			"Content": "<h2>What it does</h2><p>" + p.text + "</p>", "APIDetails": []object{{"APIID": p.path}}}); err != nil {
			return err
		}
		if err := d.describe(ctx, i+1, p.name, p.path); err != nil {
			return err
		}
		if err := d.inPortal(ctx, fmt.Sprintf("/products/%d/docs", i+1), object{"Title": "Your first call", "Lede": "In five minutes", "Path": "first-call", "Status": "published",
			"Content": "<p>Ask for access, then call it.</p>"}); err != nil {
			return err
		}
	}
	for name, more := range map[string]object{"Free": {"RateLimit": 10, "Quota": 1000, "AutoApproveAccessRequests": true}, "Business": {"RateLimit": 100, "Quota": 100000}} {
		plan := object{"Name": name, "ProviderID": 1, "Per": 1, "QuotaRenewalRate": 86400, "Catalogues": []int{1}}
		maps.Copy(plan, more)
		if err := d.inPortal(ctx, "/plans", plan); err != nil {
			return err
		}
	}
	return nil
}

// describe uploads the description of the only API of a product.
func (d *demo) describe(ctx context.Context, product int, name, path string) error {
	spec, err := json.Marshal(object{"openapi": "3.0.3", "info": object{"title": name, "version": "2"}, "servers": []object{{"url": "https://" + path + ".example.com"}}, "paths": object{
		"/" + path: object{
			"get":  object{"summary": "List " + path, "tags": []string{path}, "parameters": []object{{"name": "since", "in": "query", "schema": object{"type": "string", "format": "date"}}}, "responses": object{"200": object{"description": "All of them"}}},
			"post": object{"summary": "Add to " + path, "tags": []string{path}, "responses": object{"201": object{"description": "It is there"}}},
		},
		"/" + path + "/{id}": object{"get": object{"summary": "Fetch one of " + path, "tags": []string{path}, "parameters": []object{{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}}}, "responses": object{"200": object{"description": "Found"}}}},
	}})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", path+".json")
	if err == nil {
		_, err = file.Write(spec)
	}
	if err := errors.Join(err, form.Close()); err != nil {
		return err
	}
	return d.send(ctx, "POST", fmt.Sprintf("%s/portal-api/products/%d/api-details/%s/oas", d.portal, product, path), d.token, form.FormDataContentType(), &body, nil)
}

// write creates users and posts.
func (d *demo) write(ctx context.Context) error {
	for _, p := range []object{
		{"Email": grace, "First": "Grace", "Last": "Hopper", "Password": password, "Role": "consumer-admin", "Active": true, "OrgID": 1},
		{"Email": "alan@example.com", "First": "Alan", "Last": "Turing", "Password": password, "Role": "consumer-team-member", "Active": true, "OrgID": 1},
	} {
		if err := d.inPortal(ctx, "/users", p); err != nil {
			return err
		}
	}
	for _, title := range []string{"Refunds in a day", "Forty carriers", "A new portal"} {
		if err := d.inPortal(ctx, "/posts", object{"Title": title, "Lede": "What it means for you.", "Content": "<p>Read the documentation of the products to begin with.</p>", "Path": fmt.Sprintf("post-%d", len(title)), "Status": "published"}); err != nil {
			return err
		}
	}
	return nil
}

// report writes a month of traffic, as gateways report it.
func report(ctx context.Context, file, org string) error {
	const days = 30
	readers, writers, err := sqlite.Plain(file, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	at := sqlanalytics.Place{Readers: readers, Writers: writers, Dialect: sqlanalytics.SQLite}
	s := &sqlanalytics.Store{Counters: at, Records: at, Uptime: at}
	from := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	err = analyticstest.Fill(ctx, s, analyticstest.Traffic{Seed: 11, Records: 3000, Days: days, From: from, APIs: len(products), Keys: 5, Orgs: []string{org}}.Make())
	return errors.Join(err, s.Close())
}

func (d *demo) ask(ctx context.Context, method, url, token string, body object, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return d.send(ctx, method, url, token, "application/json", bytes.NewReader(text), into)
}

func (d *demo) send(ctx context.Context, method, url, token, mediaType string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", mediaType)
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300:
		return fmt.Errorf("%s %s: answer %d: %s", method, url, resp.StatusCode, text)
	case into != nil:
		return json.Unmarshal(text, into)
	}
	return nil
}

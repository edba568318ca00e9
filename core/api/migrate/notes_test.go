package migrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// There is a note for a method of authentication that migration loses.
func TestMethodNotes(t *testing.T) {
	for more, want := range map[string]string{
		`"use_keyless":true`:                                                  "",
		`"use_standard_auth":true`:                                            "",
		`"use_standard_auth":true,"auth":{"auth_header_name":""}`:             "",
		`"use_standard_auth":true,"auth":{"auth_header_name":"X-Key"}`:        "the place of the key is in auth",
		`"auth":{"auth_header_name":"X-Key"}`:                                 "the place of the key is in auth",
		`"auth":{"auth_header_name":"X-Key"},"auth_configs":{"authToken":{}}`: "",
		`"use_keyless":true,"auth":{"auth_header_name":"Authorization"}`:      "",
		`"enable_jwt":true,"auth":{"auth_header_name":"X-Key"}`:               "enable_jwt is on",
		`"enable_jwt":true,"auth_configs":{"jwt":{}}`:                         "",
		`"use_openid":true,"enable_signature_checking":true`:                  "enable_signature_checking is on; use_openid is on",
		`"use_basic_auth":true,"use_oauth2":true,"auth_configs":{"basic":{}}`: "use_oauth2 is on",
		`"custom_plugin_auth_enabled":true`:                                   "",
		`"external_oauth":{"enabled":true}`:                                   "",
	} {
		def, err := doc.ParseNode(fmt.Appendf(nil, `{"name":"a","api_id":"a",%s,"proxy":{"listen_path":"/a/","target_url":"http://t"}}`, more))
		if err != nil {
			t.Fatal(more, err)
		}
		r, err := migrate.Convert(def, numbered())
		if err != nil {
			t.Fatal(more, err)
		}
		var got []string
		for _, note := range r.Notes {
			short, _, _ := strings.Cut(note, ",")
			got = append(got, short)
		}
		if all := strings.Join(got, "; "); all != want {
			t.Errorf("%s: %s\nwant %s", more, all, want)
		}
	}
}

package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSessionsAreBounded states that no operation takes a session that lists could not hold.
func TestSessionsAreBounded(t *testing.T) {
	a := service(t, &seen{ops: map[string][]int{}})
	body := func(size int) string {
		return `{"access_rights":{"-":{"api_id":"-","versions":["Default"]}},"meta_data":{"x":"` + strings.Repeat("x", size) + `"}}`
	}
	for _, c := range []struct{ method, path string }{
		{"POST", "/api/keys"}, {"POST", "/api/keys/preview"}, {"POST", "/api/keys/mine"}, {"PUT", "/api/keys/mine"}, {"POST", "/api/apis/keys/basic/me"}, {"PUT", "/api/apis/-/keys/mine"},
	} {
		if code, text := fetch(t, a, c.method, c.path, "admin", body(4<<20)); code != 413 {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, code, text)
		}
		if code, text := fetch(t, a, c.method, c.path, "admin", body(3<<20)); code == 413 {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, code, text)
		}
	}
}

// TestRightsAreBounded: a key of a few bytes has policies, whose rights are joined with each read
// and each write. Policies that grow later are left out of what is read.
func TestRightsAreBounded(t *testing.T) {
	a := service(t, &seen{ops: map[string][]int{}})
	policies := func(method string, rights int) {
		t.Helper()
		var list []string
		for i := range rights {
			list = append(list, fmt.Sprintf(`"api-%d":{"versions":["Default"]}`, i))
		}
		for i := range 11 {
			path := "/api/portal/policies"
			if method == "PUT" {
				path += fmt.Sprintf("/wide-%d", i)
			}
			if code, text := fetch(t, a, method, path, "admin", fmt.Sprintf(`{"id":"wide-%d","name":"Wide %d","access_rights":{%s}}`, i, i, strings.Join(list, ","))); code != 200 {
				t.Fatal(code, text)
			}
		}
	}
	const all = `{"apply_policies":["wide-0","wide-1","wide-2","wide-3","wide-4","wide-5","wide-6","wide-7","wide-8","wide-9","wide-10"]}`
	want := func(method, path, body string, status int, text string) {
		t.Helper()
		if code, got := fetch(t, a, method, path, "admin", body); code != status || !strings.Contains(got, text) {
			t.Errorf("%s %s: %d %.300s", method, path, code, got)
		}
	}
	policies("POST", 4_545)
	want("POST", "/api/keys/wide", all, 200, `"api-4544"`)
	want("GET", "/api/keys/wide/effective", "", 200, `"api-4544"`)
	policies("PUT", 4_546)
	const tooMany = "50006 access definitions in all"
	want("GET", "/api/keys/wide", "", 200, `"apply_policies":["wide-0"`)
	want("GET", "/api/keys/wide/effective", "", 400, tooMany)
	want("PUT", "/api/keys/wide", all, 400, tooMany)
	want("POST", "/api/keys", all, 400, tooMany)
	want("POST", "/api/keys/preview", all, 400, tooMany)
	want("PUT", "/api/keys/wide", `{"apply_policies":["wide-0"]}`, 200, `"api-4545"`)
}

// TestNameOfOrganisation: gateways leave the organisation out of a name, so that nothing would
// be left of its own, and no key be found by it.
func TestNameOfOrganisation(t *testing.T) {
	a := service(t, &seen{ops: map[string][]int{}})
	for _, path := range []string{"/api/keys/org-a", "/api/apis/keys/basic/org-a"} {
		code, text := fetch(t, a, "POST", path, "admin", `{"basic_auth_data":{"password":"correct horse"},"apply_policies":["gold"]}`)
		if code != 400 || !strings.Contains(text, "not that of the organisation") {
			t.Error(path, code, text)
		}
	}
}

// TestPolicyTextsAreBounded: what few policies say may be as long as what many say.
func TestPolicyTextsAreBounded(t *testing.T) {
	a := service(t, &seen{ops: map[string][]int{}})
	text := strings.Repeat("x", 4<<20)
	var ids []string
	for i := range 4 {
		ids = append(ids, fmt.Sprintf(`"long-%d"`, i))
		body := fmt.Sprintf(`{"id":"long-%d","name":"Long %[1]d","access_rights":{"a":{"versions":["Default"]}},"meta_data":{"m%[1]d":"%s"}}`, i, text)
		if code, text := fetch(t, a, "POST", "/api/portal/policies", "admin", body); code != 200 {
			t.Fatal(code, text)
		}
	}
	for n, status := range map[int]int{3: 200, 4: 400} {
		code, got := fetch(t, a, "POST", fmt.Sprintf("/api/keys/long-%d", n), "admin", `{"apply_policies":[`+strings.Join(ids[:n], ",")+`]}`)
		if code != status || status == 400 && !strings.Contains(got, "bytes in all; those of a key may have 16777216") {
			t.Errorf("%d policies: %d %.300s", n, code, got)
		}
	}
}

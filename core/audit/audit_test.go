package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func keys(name string) (ed25519.PublicKey, bool) {
	return key.Public().(ed25519.PublicKey), name == "k1"
}

func sign(c audit.Checkpoint) audit.Checkpoint {
	return c.Sign("k1", func(m []byte) []byte { return ed25519.Sign(key, m) })
}

// sample is a record with all members.
func sample(org tenant.ID, i int) audit.Record {
	return audit.Record{
		ReqID: fmt.Sprint("r", i), OrgID: org, IP: "192.0.2.1", User: "a@example.com", Action: "Replace a <policy>", Method: "PUT", URL: "/api/x?a=b&c=d",
		Status: 200, Actor: "u1", Behalf: "b", Operation: "policies.replace", Verdict: audit.Allowed, Count: i % 3, More: i % 2,
		Subjects: []audit.Subject{{Op: "updated", Kind: "policy", ID: fmt.Sprint("p", i)}},
		Diff:     []audit.Difference{{Subject: "policy p", Path: "/name", From: json.RawMessage(`"é<"`), To: json.RawMessage(`{"a":1.0}`)}},
	}.At(time.Unix(1_700_000_000+int64(i), 0))
}

// exported returns the lines of a file with a trail without its first records.
func exported(org tenant.ID, n, batch int) (lines [][]byte, head audit.Checkpoint) {
	first, prev := uint64(41), strings.Repeat("ab", 32)
	lines = append(lines, sign(audit.Checkpoint{Kind: audit.Floor, OrgID: org, First: 1, Before: audit.Genesis, Seq: first - 1, Hash: prev, Time: 1}).Line())
	head = audit.Checkpoint{Kind: audit.Batch, OrgID: org, First: first, Before: prev}
	for i := range n {
		r := sample(org, i).Link(first+uint64(i), prev)
		prev = r.Hash
		lines = append(lines, r.Canonical())
		if i%batch == batch-1 || i == n-1 {
			head.Seq, head.Hash, head.Time = r.Seq, r.Hash, r.Timestamp
			head = sign(head)
			lines = append(lines, head.Line())
			head = audit.Checkpoint{Kind: audit.Batch, OrgID: org, First: r.Seq + 1, Before: r.Hash, Seq: head.Seq, Hash: head.Hash, Time: head.Time, Key: head.Key, Signature: head.Signature}
		}
	}
	last := audit.Checkpoint{}
	_ = json.Unmarshal(bytes.TrimSuffix(bytes.TrimPrefix(lines[len(lines)-1], []byte(`{"checkpoint":`)), []byte("}")), &last)
	return lines, last
}

func verify(lines [][]byte, anchors ...audit.Checkpoint) []audit.Finding {
	v := audit.Verifier{Keys: keys, Anchors: anchors}
	for _, l := range lines {
		v.Line(l)
	}
	v.End()
	return v.Findings
}

func TestAnUntouchedTrail(t *testing.T) {
	a, last := exported("a", 100, 7)
	b, _ := exported("", 3, 10)
	if found := verify(append(a, b...), last); len(found) > 0 {
		t.Error(found)
	}
	if found := verify(nil); len(found) > 0 {
		t.Error(found)
	}
}

// TestTamperings makes ten thousand different single changes to a trail: of a byte, of a
// member of a record or a checkpoint, with or without a new hash, or of a row. Each one is
// found.
func TestTamperings(t *testing.T) {
	lines, last := exported("a", 30, 7)
	rnd := rand.New(rand.NewSource(1))
	missed := 0
	for i := range 10_000 {
		forged, how := tamper(rnd, slices.Clone(lines))
		if slices.EqualFunc(forged, lines, bytes.Equal) {
			t.Fatal("nothing was changed by", how)
		}
		if found := verify(forged); len(found) == 0 {
			missed++
			t.Errorf("%d: %s is not found", i, how)
		}
		if missed > 10 {
			t.Fatal("and so on")
		}
	}
	// A cut at the end of a batch is found only with a checkpoint that was stored elsewhere.
	cut := lines[:len(lines)-1]
	for !bytes.HasPrefix(cut[len(cut)-1], []byte(`{"checkpoint"`)) {
		cut = cut[:len(cut)-1]
	}
	if found := verify(cut); len(found) > 0 {
		t.Error("the cut is not clean:", found)
	}
	if found := verify(cut, last); len(found) != 1 || !strings.Contains(found[0].Reason, "the trail was cut") {
		t.Error(found)
	}
}

func tamper(rnd *rand.Rand, lines [][]byte) (forged [][]byte, how string) {
	i := rnd.Intn(len(lines))
	switch rnd.Intn(6) {
	case 0: // a byte
		l := bytes.Clone(lines[i])
		at, b := rnd.Intn(len(l)), byte('!'+rnd.Intn(90))
		for b == l[at] {
			b = byte('!' + rnd.Intn(90))
		}
		was := l[at]
		l[at] = b
		lines[i] = l
		return lines, fmt.Sprintf("byte %d of line %d from %q to %q", at, i, was, b)
	case 1: // a row is removed
		return slices.Delete(lines, i, i+1), fmt.Sprint("without line ", i)
	case 2: // a row is repeated
		at := rnd.Intn(len(lines) + 1)
		return slices.Insert(lines, at, lines[i]), fmt.Sprint("line ", i, " again at ", at)
	case 3: // two rows are swapped
		j := (i + 1 + rnd.Intn(len(lines)-1)) % len(lines)
		lines[i], lines[j] = lines[j], lines[i]
		return lines, fmt.Sprint("lines ", i, " and ", j, " swapped")
	case 4: // a forged row
		at := rnd.Intn(len(lines) + 1)
		r := sample("a", i).Link(uint64(41+rnd.Intn(32)), audit.Genesis)
		return slices.Insert(lines, at, r.Canonical()), fmt.Sprint("a forged record at ", at)
	default: // a member
		return lines, member(rnd, lines, i)
	}
}

// member changes a member of a line, and uses only what the writer of a trail could use.
func member(rnd *rand.Rand, lines [][]byte, i int) string {
	var members map[string]any
	text, checkpoint := lines[i], false
	if rest, ok := bytes.CutPrefix(text, []byte(`{"checkpoint":`)); ok {
		text, checkpoint = bytes.TrimSuffix(rest, []byte("}")), true
	}
	_ = json.Unmarshal(text, &members)
	names := []string{}
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	name := names[rnd.Intn(len(names))]
	switch v := members[name].(type) {
	case string:
		members[name] = v + "x"
	case float64:
		members[name] = v + 1
	default:
		members[name] = nil
	}
	text, _ = json.Marshal(members)
	if checkpoint {
		var c audit.Checkpoint
		_ = json.Unmarshal(text, &c)
		lines[i] = c.Line()
		return fmt.Sprint(name, " of the checkpoint in line ", i)
	}
	var r audit.Record
	_ = json.Unmarshal(text, &r)
	if name != "hash" && rnd.Intn(2) == 0 {
		r.Hash = r.Digest()
	}
	lines[i] = r.Canonical()
	return fmt.Sprint(name, " of the record in line ", i)
}

func TestFindings(t *testing.T) {
	lines, last := exported("a", 10, 5)
	for name, c := range map[string]struct {
		forged  func([][]byte) [][]byte
		anchors []audit.Checkpoint
		want    string
	}{
		"removed":       {func(l [][]byte) [][]byte { return slices.Delete(l, 3, 4) }, nil, "organisation a, record 43: records are missing"},
		"moved":         {func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l }, nil, "record 42: the record was inserted or moved"},
		"other key":     {func([][]byte) [][]byte { return [][]byte{audit.Checkpoint{Key: "k9"}.Line()} }, nil, "key k9, which signed the checkpoint, is not known"},
		"not JSON":      {func([][]byte) [][]byte { return [][]byte{[]byte("{")} }, nil, "a line is no record"},
		"no checkpoint": {func(l [][]byte) [][]byte { return l[:3] }, nil, "record 41: no checkpoint covers the records from here on"},
		"batch removed": {func(l [][]byte) [][]byte { return slices.Delete(l, 1, 7) }, nil, "records are missing: number 46 follows number 40"},
		"anchor":        {func(l [][]byte) [][]byte { return l[:7] }, []audit.Checkpoint{last}, "record 46: the trail was cut: it ends with 45, a checkpoint kept elsewhere names 50"},
		"forged anchor": {func(l [][]byte) [][]byte { return l }, []audit.Checkpoint{{Key: "k1"}}, "the checkpoint kept elsewhere is not signed"},
	} {
		found := verify(c.forged(slices.Clone(lines)), c.anchors...)
		if !slices.ContainsFunc(found, func(f audit.Finding) bool { return strings.Contains(f.String(), c.want) }) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestDifferences(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, c := range []struct{ before, after, want string }{
		{`{"a":1}`, `{"a":1.0}`, ``},
		{`{"a":1,"gone":true}`, `{"a":2,"new":[1]}`, `/a 1 2; /gone true -; /new - [1]`},
		{`{"a":{"b/c~":[1,{"d":2}]}}`, `{"a":{"b/c~":[1,{"d":3}]}}`, `/a/b~1c~0/1/d 2 3`},
		{`{"a":[1]}`, `{"a":[1,2]}`, `/a [1] [1,2]`},
		{`{"password":"p1","n":{"secret":["s1","s2"]}}`, `{"password":"p2","n":{"secret":["s1","s3"]}}`, `/password "***" "***"; /n/secret/1 "***" "***"`},
		{`{"o":1}`, `{"o":{"token":"s","k":{"api_key":77}}}`, `/o 1 {"token":"***","k":{"api_key":"***"}}`},
		{`{"user_permissions":{"ResetPassword":"deny"}}`, `{"user_permissions":{"ResetPassword":"admin","token_admin":"read"}}`, `/user_permissions/ResetPassword "deny" "admin"; /user_permissions/token_admin - "read"`},
		{`{}`, `{"user_permissions":{"ResetPassword":"admin"},"o":{"user_permissions":{"ResetPassword":"read"},"ResetPassword":"x"}}`, `/user_permissions - {"ResetPassword":"admin"}; /o - {"user_permissions":{"ResetPassword":"read"},"ResetPassword":"***"}`},
		{`{"header_map":{"x":"s1"}}`, `{"header_map":{"x":"s2"}}`, `/header_map/x "***" "***"`},
		{`{"u":"https://u:p@h/?token=t"}`, `{"u":"https://v:q@h/?token=t"}`, `/u "https://***@h/?token=***" "https://***@h/?token=***"`},
		{`{"t":"{\"password\":\"p\",\"a\":1}"}`, `{"t":"{\"password\":\"q\",\"a\":2}"}`, `/t/password "***" "***"; /t/a 1 2`},
		{`{"mine":"s1"}`, `{"mine":"s2"}`, `/mine "***" "***"`},
		{`{"a":""}`, `{"a":"` + long + `"}`, `/a "" -`},
		{`{`, `{}`, `1 more`},
		{`{"a":0,"b":0,"c":0,"d":0,"e":0}`, `{"a":1,"b":1,"c":1,"d":1,"e":1}`, `/a 0 1; /b 0 1; /c 0 1; 2 more`},
	} {
		list, more := audit.NewComparer([]string{"Mine"}).Differences("k 1", []byte(c.before), []byte(c.after), 3)
		var got []string
		for _, d := range list {
			show := func(v json.RawMessage) string {
				if v == nil {
					return "-"
				}
				return string(v)
			}
			got = append(got, fmt.Sprintf("%s %s %s", d.Path, show(d.From), show(d.To)))
		}
		if more > 0 {
			got = append(got, fmt.Sprint(more, " more"))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s to %s: %s", c.before, c.after, strings.Join(got, "; "))
		}
	}
}

func TestRecordsAreBounded(t *testing.T) {
	r := sample("a", 1)
	r.URL, r.ReqID, r.Actor = strings.Repeat("u", 5000), strings.Repeat("r", 5000), "a\xffb"
	for range 200 {
		r.Subjects = append(r.Subjects, audit.Subject{ID: strings.Repeat("i", 5000)})
	}
	r = r.Link(1, audit.Genesis)
	if n := len(r.Canonical()); n > 40_000 || r.More != 1+201-audit.MaxSubjects || r.Actor != "a?b" {
		t.Error(n, r.More, r.Actor)
	}
	var again audit.Record
	if err := json.Unmarshal(r.Canonical(), &again); err != nil || !bytes.Equal(again.Canonical(), r.Canonical()) || again.Digest() != r.Hash {
		t.Error("a record does not come back as it was:", err)
	}
}

// FuzzLine reads any text, and accepts only lines that were signed for a trail.
func FuzzLine(f *testing.F) {
	lines, _ := exported("a", 2, 2)
	for _, l := range lines {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := audit.Verifier{Keys: keys}
		v.Line(text)
		v.End()
		if len(v.Findings) == 0 && !bytes.Equal(text, lines[0]) {
			t.Errorf("taken for a trail: %q", text)
		}
	})
}

// FuzzCanonical: the canonical text of a record is its JSON from encoding/json, in the order
// of the type. So other programs can verify a trail without special rules.
func FuzzCanonical(f *testing.F) {
	f.Add("a", "/x?y=<&>", `{"a": [1, "b"]}`, "\u2028\x00\"", int64(7), uint8(3))
	f.Add("", "", "", "", int64(0), uint8(0))
	f.Add("\xff", "é", ` null `, "\\", int64(-1), uint8(2))
	f.Fuzz(func(t *testing.T, a, b, raw, c string, n int64, items uint8) {
		r := audit.Record{}
		texts, at := []string{a, b, c, a + b, ""}, 0
		v := reflect.ValueOf(&r).Elem()
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() { // not part of the text
				continue
			}
			switch at++; v.Field(i).Kind() {
			case reflect.String:
				v.Field(i).SetString(texts[(at+int(items))%len(texts)])
			case reflect.Int, reflect.Int64:
				v.Field(i).SetInt(n % int64(1+at%3))
			case reflect.Uint64:
				v.Field(i).SetUint(uint64(max(n, -n)) >> 1)
			case reflect.Slice: // compared below
			default:
				t.Fatalf("a record has a member of another type: %s", v.Type().Field(i).Name)
			}
		}
		for i := range int(items % 4) {
			r.Diff = append(r.Diff, audit.Difference{Subject: texts[i], Path: b, From: json.RawMessage(raw), To: json.RawMessage(c)})
			r.Subjects = append(r.Subjects, audit.Subject{Op: a, Kind: texts[i], ID: c})
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(r); err != nil {
			want.Reset()
		}
		if got := r.Canonical(); !bytes.Equal(got, bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
			t.Errorf("%s\nwant %s", got, want.Bytes())
		}
	})
}

package yaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/yaml"
)

var codec port.Codec = yaml.Codec{}

var limits = port.Limits{Bytes: 32 << 20, Values: 500_000}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"b: 1\na: [x, 'y', \"z\"]\n":                                                       `{"b":1,"a":["x","y","z"]}`,
		"responses:\n  200: {description: ok}\n":                                           `{"responses":{"200":{"description":"ok"}}}`,
		"v: 1.50\nw: 0x1F\nx: 1_000\ny: ~\nz: yes\nt: true":                                `{"v":1.50,"w":31,"x":1000,"y":null,"z":"yes","t":true}`,
		"v: .5\nw: +1.5\nx: 1_000.25\ny: -.5e-1\nz: 5.":                                    `{"v":0.5,"w":1.5,"x":1000.25,"y":-0.05,"z":5}`,
		"d: 2026-01-02\nm: |\n  line\n  two\n":                                             `{"d":"2026-01-02","m":"line\ntwo\n"}`,
		"a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n  k: 2\n  l: 3":                                `{"a":{"k":1},"b":{"k":1},"c":{"k":2,"l":3}}`,
		"c:\n  k: 2\n  <<: [{k: 1, m: 4}, {m: 5}]\n":                                       `{"c":{"k":2,"m":4}}`,
		`{"json": [1e3, "\u00e9"]}`:                                                        `{"json":[1e3,"é"]}`,
		"---\na: 1\n...\n---\n# no more\n":                                                 `{"a":1}`,
		"\"1\": a":                                                                         `{"1":"a"}`,
		"%YAML 1.2\n---\na: 12\nb: yes\n":                                                  `{"a":12,"b":"yes"}`,
		"\ufeff# x\r\n\r\n%TAG ! tag:x,2026:\n%YAML\t1.2 # y\r\n---\r\na: '%YAML 1.2'\r\n": `{"a":"%YAML 1.2"}`,
		"%YAML 1.1\n---\na: 1\n":                                                           `{"a":1}`,
	} {
		n, err := codec.Parse([]byte(in), limits)
		if err != nil || string(n.JSON()) != want {
			t.Errorf("%q: %s, %v; want %s", in, n.JSON(), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ",") + "]\n"
	}
	for _, in := range []string{"", "# nothing", "a: [", "a: .inf", "a: -.inf", "a: .nan", "? {x: 1}\n: y", "a: &a [*a]", "<<: 7", bomb, "a: 1\na: 2", "\t- x", "%YAML 1.3\n---\na: 1\n", "%YAML 1.20\n---\na: 1\n", "a: 1\n%YAML 1.2\n---\n", "a: 1\n---\nb: 2\n", "a: 1\n---\n- [\n"} {
		if n, err := codec.Parse([]byte(in), limits); !errors.Is(err, port.ErrSyntax) && !errors.Is(err, port.ErrLarge) {
			t.Errorf("%.40q: %v %v", in, err, n.Type())
		}
	}
}

// Texts that readers of YAML 1.1 take for booleans or numbers are quoted, also as
// names.
func TestFormatForOlderReaders(t *testing.T) {
	n, err := doc.ParseNode([]byte(`{"y":["yes","No","ON","off","n","1:30","-1:5:59.5","nobody","1:99","a:30","="],"true":"true","x":"<<"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "\"y\":\n  - \"yes\"\n  - \"No\"\n  - \"ON\"\n  - \"off\"\n  - \"n\"\n  - \"1:30\"\n  - \"-1:5:59.5\"\n  - nobody\n  - 1:99\n  - a:30\n  - \"=\"\n\"true\": \"true\"\nx: \"<<\"\n"
	if out, err := codec.Format(n); err != nil || string(out) != want {
		t.Errorf("%s %v", out, err)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(`{"a":{"b":[1.50,"x",true,null,"true","1","", "a: b","\n"]},"200":{},"e":[]}`)
	f.Add(`["<<",{"<<":1},"*x","&y","!z","2026-01-02","0x1f","~"]`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		out, err := codec.Format(n)
		if err != nil {
			t.Fatal(err)
		}
		again, err := codec.Parse(out, limits)
		if err != nil || !again.Equal(n) {
			t.Fatalf("%s became %s became %s: %v", text, out, again.JSON(), err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("a: &x {k: 1}\nb: *x\n<<: *x")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := codec.Parse([]byte(text), limits); err == nil {
			if _, err := doc.ParseNode(n.JSON()); err != nil && !strings.Contains(err.Error(), "UTF-8") {
				t.Fatal(err)
			}
		}
	})
}

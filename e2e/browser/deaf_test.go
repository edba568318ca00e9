package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// flap adds an interface with an address, and removes it.
func flap(link, address string) error {
	for _, args := range [][]string{{"link", "add", link, "type", "bridge"}, {"address", "add", address, "dev", link}, {"link", "delete", link}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %q: %w: %s", args, err, out)
		}
	}
	time.Sleep(10 * time.Millisecond)
	return nil
}

// Containers of other packages add and remove interfaces while pages load.
func TestInterfacesComeAndGo(t *testing.T) {
	if err := flap("gatehouse0", "198.18.0.1/24"); os.Geteuid() != 0 || err != nil {
		t.Skipf("only root can add interfaces, and only the browser of root is kept from hearing of them (%v)", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // Each request uses a new connection, which is what the browser aborts.
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>page</title><link rel=icon href=data:,>")
	}))
	defer server.Close()
	b := browser.Open(t, server.URL)
	b.Go("/")

	over, idle := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(idle)
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
				_ = flap(fmt.Sprintf("gatehouse%d", i%8), fmt.Sprintf("198.18.%d.1/24", i%8))
			}
		}
	}()
	failed := browser.Value[int](b, `(async () => {
		let failed = 0;
		const one = async () => { for (let i = 0; i < 150; i++) { try { await fetch('/?' + Math.random()) } catch { failed++ } } };
		await Promise.all(Array.from({length: 12}, one));
		return failed;
	})()`)
	close(over)
	<-idle
	if failed > 0 {
		t.Errorf("%d of 1,800 requests failed while interfaces came and went", failed)
	}
}

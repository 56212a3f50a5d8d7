//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// TestImportKilled: an import that is killed again and again, wherever it is, ends
// with each row in the stream once, in the file's order, and with texts for all
// symbols.
func TestImportKilled(t *testing.T) {
	const rows = 60000
	dir, path := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "rows.csv")
	var b strings.Builder
	b.WriteString("time,n,name\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%d,sym%d\n", int64(1700000000000)+int64(i/10), i%97, i/5000)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "create", dir, "--field", "n:u32", "--field", "sym:u32", "--capacity", "4096", "--durability", "sealed", "-q")
	args := []string{"import", dir, path, "--preset", "csv", "--time-column", "time", "--map", "sym=name:text", "-q"}
	kills, last := 0, stream.Seq(0)
	for i := 0; ; i++ {
		cmd := ledgerctl(t, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		// The append has gone on a little since the last run: that is when to kill.
		grown := waitGrown(t, dir, last+stream.Seq(1+i*1009%9000), ended)
		if !grown {
			break
		}
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			break // it has just ended
		}
		if <-ended == nil {
			break
		}
		kills++
		last = end(t, dir)
	}
	out := run(t, append(args, "--format", "jsonl")...)
	if !strings.Contains(out, fmt.Sprintf(`"appended":"0","there":"%d"`, rows)) {
		t.Errorf("after %d kills: %s", kills, out)
	}
	if kills < 3 {
		t.Errorf("only %d kills hit", kills)
	}
	rep, err := verify.Stream(t.Context(), dir)
	if err != nil || !rep.OK {
		t.Fatalf("verify: %+v, %v", rep, err)
	}
	s, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if snap.End() != rows {
		t.Fatalf("%d records after %d kills, want %d", snap.End(), kills, rows)
	}
	for i := range rows {
		rec, err := snap.Get(nil, stream.Seq(i))
		if err != nil {
			t.Fatal(err)
		}
		sch := s.Schema()
		if schema.Time(rec) != (1700000000000+int64(i/10))*1e6 || sch.Uint(rec, 0) != uint64(i%97) || sch.Uint(rec, 1) != uint64(1+i/5000) {
			t.Fatalf("record %d: ts %d n %d sym %d", i, schema.Time(rec), sch.Uint(rec, 0), sch.Uint(rec, 1))
		}
	}
	t.Logf("%d kills", kills)
}

// end returns the number behind the last record, read beside a writer or none.
func end(t *testing.T, dir string) stream.Seq {
	t.Helper()
	r, err := stream.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	snap, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	return snap.End()
}

// waitGrown waits until the stream has that many records; false if the process has
// ended before.
func waitGrown(t *testing.T, dir string, n stream.Seq, ended <-chan error) bool {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("the import failed: %v", err)
			}
			return false
		case <-tick.C:
			if end(t, dir) >= n {
				return true
			}
		}
	}
}

//go:build unix

package cli

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/ledger/schema"
	"example.com/ledger/stream"
	"example.com/ledger/verify"
)

// holedStream makes a stream of forty numbered records in batches of four, which
// lacks those of [16, 20): an export of it tells of them when it comes there.
func holedStream(t *testing.T) (dir string, s *schema.Schema) {
	t.Helper()
	s, err := schema.New(schema.Nanosecond, schema.Field{Name: "n", Kind: schema.U32})
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "s")
	st, err := stream.Create(dir, stream.Options{Schema: s, Capacity: 4})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		appendNumbered(t, st, 4)
	}
	list, err := segmentsOf(st)
	if err == nil {
		err = st.Close()
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, list[4].File))
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err := verify.Repair(t.Context(), dir, true); err != nil || !r.After.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	return dir, s
}

func segmentsOf(st *stream.Stream) ([]stream.SegmentInfo, error) {
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	return snap.Segments()
}

// appendNumbered appends a batch of records that hold their own numbers.
func appendNumbered(t *testing.T, st *stream.Stream, count int) {
	t.Helper()
	s, next := st.Schema(), uint64(st.Cursors().Appended)
	recs := make([]byte, count*s.Width())
	for i := range count {
		if err := s.PutUint(recs[i*s.Width():], 0, next+uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := st.Append(recs); err != nil {
		t.Fatal(err)
	}
}

// A hook is a standard error that calls f once, at the first note of records that
// are gone.
type hook struct {
	f    func()
	text strings.Builder
}

func (h *hook) Write(p []byte) (int, error) {
	if f := h.f; f != nil && strings.Contains(string(p), "are gone") {
		h.f = nil
		f()
	}
	return h.text.Write(p)
}

// midExport runs an export and calls f in the middle of it, when its file has been
// begun. It returns the exit code and what was said.
func midExport(t *testing.T, ctx context.Context, dir, out string, f func()) (code int, said string) {
	t.Helper()
	h := &hook{f: func() {
		if tmp, err := filepath.Glob(out + ".*.tmp"); err != nil || len(tmp) != 1 {
			t.Errorf("in the middle there are %q, %v", tmp, err)
		}
		f()
	}}
	a := &app{out: newOutput(io.Discard), errs: h}
	code = a.run(ctx, []string{"export", dir, "-o", out})
	if h.f != nil {
		t.Error("the export didn't tell of the records that are gone")
	}
	return code, h.text.String()
}

// TestExportInterrupted: Ctrl-C in the middle of an export leaves what had the
// name before, and nothing else.
func TestExportInterrupted(t *testing.T) {
	if signal.Ignored(os.Interrupt) {
		t.Skip("these tests were started with the signal ignored, as nohup does")
	}
	dir, _ := holedStream(t)
	for _, ending := range []string{".csv", ".jsonl", ".arrow", ".parquet", ".seg"} {
		for _, before := range []string{"", "what was there"} {
			folder := t.TempDir()
			out := filepath.Join(folder, "out"+ending)
			if before != "" {
				if err := os.WriteFile(out, []byte(before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, stop := signal.NotifyContext(t.Context(), endings()...)
			code, said := midExport(t, ctx, dir, out, func() {
				if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
			})
			stop()
			if code != exitFailed || !strings.HasSuffix(said, "ledgerctl: interrupted; run it again\n") {
				t.Errorf("%s: exit code %d, %q", ending, code, said)
			}
			left, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			if before == "" && len(left) > 0 || before != "" && len(left) != 1 {
				t.Errorf("%s: it left %v", ending, left)
			}
			if b, _ := os.ReadFile(out); string(b) != before {
				t.Errorf("%s: the file is %q", ending, b)
			}
		}
	}
}

// TestExportBesideWriter: a writer that appends and seals in the middle of an export
// is not held up, and the file has what was there when the export began: whole
// batches.
func TestExportBesideWriter(t *testing.T) {
	dir, _ := holedStream(t)
	st, err := stream.Open(dir, stream.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	appendNumbered(t, st, 3) // in the active segment
	out := filepath.Join(t.TempDir(), "out.csv")
	code, said := midExport(t, t.Context(), dir, out, func() {
		// The export stands still for as long as this takes.
		for range 9 {
			appendNumbered(t, st, 3)
		}
		if err := st.Seal(); err != nil {
			t.Error(err)
		}
		appendNumbered(t, st, 2)
	})
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, said)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seq := 0
	for _, row := range rows[1:] {
		if seq == 16 {
			seq = 20
		}
		if want := strconv.Itoa(seq); row[0] != want || row[2] != want {
			t.Fatalf("row %v, want record %d", row, seq)
		}
		seq++
	}
	if seq != 43 {
		t.Errorf("the file ends before %d, want all before 43", seq)
	}
	if end := st.Cursors().Appended; end != 72 {
		t.Errorf("the writer came to %d", end)
	}
}

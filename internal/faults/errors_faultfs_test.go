//go:build faultfs && linux

package faults

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ledger/stream"
)

// An injection is an error of a system call, once at the Nth call of a thread,
// or at it and all that follow.
type injection struct {
	call, errno string
	harmless    bool // the engine makes the call again, and nobody is told
}

var injections = []injection{
	{"fdatasync", "EIO", false}, {"fdatasync", "ENOSPC", false}, {"fdatasync", "EINTR", true},
	{"fsync", "EIO", false}, {"fsync", "EDQUOT", false}, {"fsync", "EINTR", true},
	{"pwrite64", "ENOSPC", false}, {"pwrite64", "EIO", false}, {"pwrite64", "EDQUOT", false}, {"pwrite64", "EINTR", true},
	{"openat", "EMFILE", false}, {"openat", "ENOSPC", false},
	{"renameat", "EIO", false}, {"renameat", "ENOSPC", false},
	{"unlinkat", "EIO", false}, {"mkdirat", "ENOSPC", false},
	{"ftruncate", "EIO", false}, {"mmap", "ENOMEM", false}, {"flock", "ENOLCK", false}, {"flock", "EINTR", true},
}

// TestErrorAtEveryCall makes the scripted writer's system calls fail: each error
// surfaces, a failed sync poisons, nothing that was acknowledged is lost, and
// where an error passes the script comes to its end.
func TestErrorAtEveryCall(t *testing.T) {
	needs(t, true, "strace")
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			tops := countCalls(t, mode)
			var jobs []job
			for _, in := range injections {
				// In the full run each sync and write fails, and each third of the others.
				step := 3
				if strings.HasSuffix(in.call, "sync") || in.call == "pwrite64" {
					step = 1
				}
				for n := 1; n <= max(tops[in.call], 1); n += sample(max(1, tops[in.call]*2/3), step) {
					for _, when := range []string{fmt.Sprint(n), fmt.Sprint(n, "+")} {
						if in.harmless && strings.HasSuffix(when, "+") {
							continue // it would never end
						}
						jobs = append(jobs, errorJob(t, mode, in, when))
					}
				}
			}
			told, poisoned, ended := 0, 0, 0
			each(t, jobs, func(j job, x *Told, _ stream.OpenReport) {
				all := strings.Join(x.Fails, "; ")
				if len(x.Fails) > 0 {
					told++
				}
				if strings.Contains(all, "poisoned") {
					poisoned++
				}
				if x.Ended {
					ended++
				}
				if strings.Contains(j.name, "EINTR") && !x.Ended {
					t.Errorf("%s: the script has not come to its end:\n%v", j.name, x)
				}
			})
			t.Logf("%d runs with errors injected: %d told of one, %d poisoned, %d came to their end", len(jobs), told, poisoned, ended)
			if told < len(jobs)/4 || poisoned == 0 || ended < len(jobs)/4 {
				t.Error("the test saw too little")
			}
		})
	}
}

func errorJob(t *testing.T, mode stream.Durability, in injection, when string) job {
	inject := fmt.Sprintf("%s:error=%s:when=%s", in.call, in.errno, when)
	return job{mode, inject, func(dir string, told *Told) bool {
		_, stderr := traced(t, inject, dir, mode, told)
		if strings.Contains(stderr, "panic:") || strings.Contains(stderr, "fatal error: ") && in.call != "mmap" {
			t.Errorf("%v, %s: %s", mode, inject, stderr)
		}
		return false
	}}
}

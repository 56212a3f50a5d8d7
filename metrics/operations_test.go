package metrics

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"
)

// described returns the names that the collector describes.
func described(t *testing.T) []string {
	ch := make(chan *prometheus.Desc, 100)
	NewCollector().Describe(ch)
	close(ch)
	name := regexp.MustCompile(`fqName: "([a-z_]+)"`)
	var names []string
	for d := range ch {
		m := name.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a description without a name: %v", d)
		}
		names = append(names, m[1])
	}
	return names
}

// checkNames fails for a name in an expression that the collector doesn't have.
func checkNames(t *testing.T, where, expr string, names []string) (found int) {
	t.Helper()
	for _, name := range regexp.MustCompile(`\bledger_[a-z_]+`).FindAllString(expr, -1) {
		found++
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !slices.Contains(names, name) && (base != "ledger_sync_duration_seconds" || base == name) {
			t.Errorf("%s: %s is no metric of the collector", where, name)
		}
	}
	return found
}

func read(t *testing.T, name string) []byte {
	b, err := os.ReadFile(filepath.Join("..", "docs", "operations", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDashboard: every panel asks for metrics that there are, and every metric but
// those of positions is shown.
func TestDashboard(t *testing.T) {
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, "ledger-dashboard.json"), &d); err != nil {
		t.Fatal(err)
	}
	names := described(t)
	seen := map[int]bool{}
	all := ""
	for _, p := range d.Panels {
		if seen[p.ID] || len(p.Targets) == 0 {
			t.Errorf("panel %q has no question, or the id of another", p.Title)
		}
		seen[p.ID] = true
		for _, q := range p.Targets {
			if checkNames(t, p.Title, q.Expr, names) == 0 {
				t.Errorf("panel %q asks %q", p.Title, q.Expr)
			}
			all += q.Expr + "\n"
		}
	}
	for _, name := range names {
		if name == "ledger_leaked_snapshots_total" || name == "ledger_consumer_hold_records" || regexp.MustCompile(`_sequence$`).MatchString(name) {
			continue
		}
		if !regexp.MustCompile(`\b` + name + `(_bucket)?\b`).MatchString(all) {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// TestAlerts: the rules are whole and ask for metrics that there are.
func TestAlerts(t *testing.T) {
	var f struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(read(t, "ledger-alerts.yaml"), &f); err != nil {
		t.Fatal(err)
	}
	names := described(t)
	rules := 0
	operations, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			rules++
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s lacks its severity or texts", r.Alert)
			}
			if checkNames(t, r.Alert, r.Expr, names) == 0 {
				t.Errorf("%s asks %q", r.Alert, r.Expr)
			}
			if !regexp.MustCompile("`" + r.Alert + "`").Match(operations) {
				t.Errorf("docs/operations.md doesn't say what to do about %s", r.Alert)
			}
		}
	}
	if rules < 5 {
		t.Errorf("%d rules: the test tests nothing", rules)
	}
}

// TestMetricsAreExplained: docs/operations.md names every metric.
func TestMetricsAreExplained(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range described(t) {
		if !regexp.MustCompile("`" + name + "`").Match(b) {
			t.Errorf("docs/operations.md doesn't explain %s", name)
		}
	}
}

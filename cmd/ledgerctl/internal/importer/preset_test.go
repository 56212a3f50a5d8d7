package importer

import (
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
)

// TestPresets: rows of each venue, and the records that they become.
func TestPresets(t *testing.T) {
	for _, c := range []struct {
		name, preset string
		o            Options
		in           string
		want         []string
	}{
		{"lobster", "lobster", Options{Symbol: "AAPL", Date: "2012-06-21"}, text(
			"34200.004241176,1,16113575,18,5853300,1",
			"34200.1,2,16113575,8,5853300,-1",
			"35821.088778456004,5,0,100,5853350,-1",
			"35821.0887784565,4,16113575,1,99999999999,1",
			"36000,6,0,5,5853300,1",
			"36000,7,0,0,-1,-1",
			"36000,7,0,0,1,-1"), []string{
			"1340285400004241176 px=585.3300 qty=18 order=16113575 venue_ts=1340285400004241176 sym=AAPL kind=1",
			"1340285400100000000 px=585.3300 qty=8 order=16113575 venue_ts=1340285400100000000 sym=AAPL kind=2 side=1",
			"1340287021088778456 px=585.3350 qty=100 venue_ts=1340287021088778456 flags=2 sym=AAPL kind=5",
			"1340287021088778457 px=9999999.9999 qty=1 order=16113575 venue_ts=1340287021088778457 sym=AAPL kind=12",
			"1340287200000000000 px=585.3300 qty=5 venue_ts=1340287200000000000 flags=8 sym=AAPL kind=5 side=1",
			"1340287200000000000 venue_ts=1340287200000000000 sym=AAPL kind=7 side=2",
			"1340287200000000000 venue_ts=1340287200000000000 sym=AAPL kind=8 side=2"}},
		{"binance spot, ms", "binance-trades", Options{}, text("3735683259,61837.63000000,0.02000000,1236.75260000,1723161255342,True,True"),
			[]string{"1723161255342000000 px=61837.63000000 qty=0.02000000 trade=3735683259 venue_ts=1723161255342000000 side=1"}},
		{"binance spot, us", "binance-trades", Options{Symbol: "BTCUSDT"}, text("1,1,2,2,1736000000123456,False,True"),
			[]string{"1736000000123456000 px=1.00000000 qty=2.00000000 trade=1 venue_ts=1736000000123456000 sym=BTCUSDT"}},
		{"binance futures, header", "binance-trades", Options{}, text("id,price,qty,quote_qty,time,is_buyer_maker", "5266583935,61800.30,0.006,370.8018,1723161256322,false"),
			[]string{"1723161256322000000 px=61800.30000000 qty=0.00600000 trade=5266583935 venue_ts=1723161256322000000"}},
		{"binance spot, header", "binance-trades", Options{}, text("id,price,qty,quoteQty,time,isBuyerMaker,isBestMatch", "1,1,1,1,1723161256322,true,true"),
			[]string{"1723161256322000000 px=1.00000000 qty=1.00000000 trade=1 venue_ts=1723161256322000000 side=1"}},
		{"binance aggregates", "binance-aggtrades", Options{}, text("13519807,0.00141342,23.00000000,15373518,15373520,1570752011620,True,True", "2,1,1,7,7,1570752011620,False"),
			[]string{"1570752011620000000 px=0.00141342 qty=23.00000000 trade=13519807 first=15373518 last=15373520 flags=1024 side=1",
				"1570752011620000000 px=1.00000000 qty=1.00000000 trade=2 first=7 last=7"}},
		{"bitstamp", "bitstamp", Options{}, text("id,timestamp,exchange.timestamp,price,volume,action,direction",
			"65595247,1430438404635,1430438404000,236.47,20000000000,changed,bid", "1,1430438404637,1430438340000,236.47,0,deleted,ask"),
			[]string{"1430438404635000000 px=236.47000000 qty=200.00000000 order=65595247 venue_ts=1430438404000000000 kind=128",
				"1430438404637000000 px=236.47000000 order=1 venue_ts=1430438340000000000 kind=3 side=1"}},
		{"kraken", "kraken", Options{}, text("1672531436,90.540000,1.10448420"),
			[]string{"1672531436000000000 px=90.54000000 qty=1.10448420 venue_ts=1672531436000000000 side=2"}},
		{"coinbase", "coinbase", Options{}, text(`{"type":"subscriptions"}`,
			`{"type":"match","trade_id":280232,"maker_order_id":"2a0da34e-61f7-4c36-88e5-c9dd15927b16","taker_order_id":"ffffffff-ffff-ffff-0000-000000000001","side":"sell","size":"985","price":"0.00001305","product_id":"SKL-BTC","sequence":177100030,"time":"2021-04-17T16:43:37.089723Z"}`),
			[]string{"1618677817089723000 px=0.00001305 qty=985.00000000 trade=280232 venue_seq=177100030 taker_hi=18446744073709551615 taker_lo=1 " +
				"maker_hi=3030257681336585270 maker_lo=9864512510211816214 sym=SKL-BTC"}},
		{"freqtrade", "freqtrade", Options{}, text(",timestamp,id,type,side,price,amount,cost,date", "0,1675329600138,1206419187,,sell,1666.8,26.062,43440.1416,2023-02-02 09:20:00.138000+00:00"),
			[]string{"1675329600138000000 px=1666.80000000 qty=26.06200000 trade=1206419187 venue_ts=1675329600138000000 side=1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Preset = preset(t, c.preset)
			for _, in := range []string{c.in, strings.ReplaceAll(c.in, "\n", "\r\n"), "\xef\xbb\xbf" + strings.TrimSuffix(c.in, "\n")} {
				got, r, err := load(t, c.o, in)
				if err != nil || !slices.Equal(got, c.want) || r.Appended != uint64(len(c.want)) {
					t.Errorf("got %v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
		})
	}
}

// TestRefused: a wrong value stops with file, row and column, and nothing of the
// file, nor of one before it, is appended.
func TestRefused(t *testing.T) {
	const good = "1,61837.63,0.02,1,1723161255342,True,True\n"
	lobster := Options{Date: "2012-06-21"}
	for _, c := range []struct {
		name, preset string
		o            Options
		in           string
		row          int
		column, say  string
	}{
		{"a digit too many", "binance-trades", Options{}, good + "2,1.000000001,1,1,1723161255342,True,True\n", 2, "price", "more than 8 decimals"},
		{"a value too large", "binance-trades", Options{}, good + "2,99999999999999,1,1,1723161255342,True,True\n", 2, "price", "does not fit"},
		{"an exponent in an id", "binance-trades", Options{}, "1e5,1,1,1,1723161255342,True,True\n", 1, "id", "1e5"},
		{"an exponent in a price", "binance-trades", Options{}, good + "1,1E-5,1,1,1723161255342,True,True\n", 2, "price", "1E-5"},
		{"a point in an id", "binance-trades", Options{}, good + "1.0,1,1,1,1723161255342,True,True\n", 2, "id", "no whole number"},
		{"a negative id", "binance-trades", Options{}, good + "-1,1,1,1,1723161255342,True,True\n", 2, "id", "does not fit u64"},
		{"an id too large", "binance-trades", Options{}, good + "18446744073709551616,1,1,1,1723161255342,True,True\n", 2, "id", "does not fit u64"},
		{"no price", "binance-trades", Options{}, good + "2,,1,1,1723161255342,True,True\n", 2, "price", "no value"},
		{"a word for a flag", "binance-trades", Options{}, good + "2,1,1,1,1723161255342,maybe,True\n", 2, "is_buyer_maker", `"maybe" is none of`},
		{"a time of no size", "binance-trades", Options{}, good + "2,1,1,1,17231612,True,True\n", 2, "time", "whose unit its size tells"},
		{"a cell too few", "binance-trades", Options{}, good + "2,1,1,1,1723161255342\n", 2, "", "5 cells, where there should be 6 to 7"},
		{"a cell too many", "binance-trades", Options{}, good + "\n\n2,1,1,1,1723161255342,True,True,x\n", 4, "", "8 cells"},
		{"a quote not closed", "binance-trades", Options{}, good + "\"2,1,1,1,1723161255342,True,True\n", 2, "", "not closed"},
		{"a NUL", "binance-trades", Options{}, good + "2\x00,1,1,1,1723161255342,True,True\n", 2, "id", "no"},
		{"no date", "lobster", Options{}, "34200,1,1,1,1,1\n", 1, "time", "give --date"},
		{"a second too many", "lobster", lobster, "86400,1,1,1,1,1\n", 1, "time", "more than a day has"},
		{"a negative time", "lobster", lobster, "-1,1,1,1,1,1\n", 1, "time", "no number of seconds"},
		{"an exponent in a time", "lobster", lobster, "3.4e4,1,1,1,1,1\n", 1, "time", "no number of seconds"},
		{"an unknown type", "lobster", lobster, "34200,8,1,1,1,1\n", 1, "type", `"8" is none of`},
		{"an unknown direction", "lobster", lobster, "34200,1,1,1,1,0\n", 1, "direction", `"0" is none of`},
		{"a scaled price with a point", "lobster", lobster, "34200,1,1,1,585.33,1\n", 1, "price", "585.33"},
		{"a clock beyond 2200", "bitstamp", Options{}, "1,1430438404518000,1430438404000,1,1,created,bid\n", 1, "timestamp", "lies outside"},
		{"a broken object", "coinbase", Options{}, `{"type":"match"` + "\n", 1, "", "no JSON object"},
		{"no object", "coinbase", Options{}, "[1]\n", 1, "", "no JSON object"},
		{"a member twice", "coinbase", Options{}, `{"type":"match","type":"match"}` + "\n", 1, "", "stands twice"},
		{"an array in a member", "coinbase", Options{}, `{"type":["match"]}` + "\n", 1, "", "no place in a field"},
		{"a member missing", "coinbase", Options{}, `{"type":"match"}` + "\n", 1, "time", "no value"},
		{"a UUID cut", "coinbase", Options{}, `{"type":"match","time":"2021-04-17T16:43:37Z","price":"1","size":"1","trade_id":1,"sequence":1,"taker_order_id":"2a0da34e-61f7"}` + "\n", 1, "taker_order_id", "no UUID"},
		{"a time without its parts", "coinbase", Options{}, `{"type":"match","time":"2021-04-17"}` + "\n", 1, "time", "is no time"},
		{"a time that isn't", "coinbase", Options{}, `{"type":"match","time":"2021-02-30T00:00:00Z"}` + "\n", 1, "time", "2021-02-30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Preset = preset(t, c.preset)
			first := good
			if c.preset != "binance-trades" {
				first = c.in
			}
			got, r, err := load(t, c.o, first, c.in)
			var bad *RowError
			if !errors.As(err, &bad) || bad.Row != c.row || bad.Column != c.column || !strings.Contains(err.Error(), c.say) ||
				!strings.Contains(err.Error(), ".csv: line ") || got != nil || r.Appended != 0 {
				t.Errorf("got %q, %v, want line %d, column %q, …%s", got, err, c.row, c.column, c.say)
			}
		})
	}
}

// TestRejects: bad rows are set aside with their place and reason, good ones are kept.
func TestRejects(t *testing.T) {
	var rejects strings.Builder
	o := Options{Preset: preset(t, "kraken"), Rejects: &rejects}
	got, r, err := load(t, o, "1672531436,1,1\n1672531436,1e3,1\n1672531437,2\n1672531438,3,3\n")
	if err != nil || len(got) != 2 || r.Rejected != 2 || r.Records != 2 {
		t.Fatalf("%q, %+v, %v", got, r, err)
	}
	lines := strings.Split(strings.TrimSpace(rejects.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"row":2,"column":"price","error":"`) || !strings.Contains(lines[0], `"text":"1672531436,1e3,1"`) ||
		!strings.Contains(lines[1], `"row":3,"error":"2 cells`) {
		t.Errorf("set aside:\n%s", rejects.String())
	}
}

// TestReport counts what the report tells.
func TestReport(t *testing.T) {
	o := mapped(t, "csv", "ts=t:ms", "qty=q", "trade=id:u64:int", "venue_ts=v:ms")
	o.Preset.Key = []string{"trade"}
	_, r, err := load(t, o, text("t,q,id,v", "2000,1,1,9000", "1000,0,2,8000", "1000,0,2,8000", "3000,5,1,8001"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Records != 4 || r.MinTime != 1e9 || r.MaxTime != 3e9 || r.Backward != 1 || r.VenueBackward != 1 || r.Duplicates != 2 || r.ZeroQty != 2 || r.Appended != 4 {
		t.Errorf("%+v", r)
	}
}

func TestSeenForgets(t *testing.T) {
	s := seen{seed: maphash.MakeSeed(), size: 100}
	for i := range 350 {
		if s.add([]byte{byte(i), byte(i >> 8)}) {
			t.Fatalf("%d was there", i)
		}
	}
	if !s.add([]byte{byte(349 & 255), 349 >> 8}) {
		t.Error("the newest is forgotten")
	}
	if s.add([]byte{1, 0}) {
		t.Error("the oldest is remembered")
	}
	if len(s.now)+len(s.old) > 200 {
		t.Errorf("%d are remembered", len(s.now)+len(s.old))
	}
}

func TestTicks(t *testing.T) {
	o := Options{Preset: preset(t, "kraken"), Symbol: "BCHEUR", Ticks: map[string]string{"BCHEUR": "0.05"}}
	got, _, err := load(t, o, "1672531436,1.05,1\n")
	if err != nil || len(got) != 1 {
		t.Fatal(err)
	}
	_, _, err = load(t, o, "1672531436,1.05,1\n1672531436,1.07,1\n")
	if err == nil || !strings.Contains(err.Error(), "line 2, column price") || !strings.Contains(err.Error(), "no multiple of the symbol's tick 0.05") {
		t.Errorf("between ticks: %v", err)
	}
}

// TestNames: what a file's name says.
func TestNames(t *testing.T) {
	for _, c := range []struct{ preset, name, symbol, date string }{
		{"lobster", "AAPL_2012-06-21_34200000_57600000_message_50.csv", "AAPL", "2012-06-21"},
		{"lobster", "lobster_AAPL_2012-06-21_message_50.csv.gz", "AAPL", "2012-06-21"},
		{"lobster", "BRK.B_2012-06-21_34200000_57600000_message_1.csv", "BRK.B", "2012-06-21"},
		{"lobster", "messages.csv", "", ""},
		{"binance-trades", "BTCUSDT-trades-2024-08-08.zip", "BTCUSDT", ""},
		{"binance-trades", "BTCUSDT_240927-trades-2024-08-08.csv", "BTCUSDT_240927", ""},
		{"binance-aggtrades", "binance_spot_XRPETH-aggTrades-2019-10-11_13.csv", "XRPETH", ""},
		{"kraken", "XBTUSD.csv", "XBTUSD", ""}, {"kraken", "trades_2023.csv", "", ""}, {"kraken", "kraken_BCHEUR.csv", "BCHEUR", ""}, {"kraken", "coinbaseEUR.csv.gz", "", ""},
	} {
		symbol, date := preset(t, c.preset).fromName(plainName(c.name))
		if symbol != c.symbol || date != c.date {
			t.Errorf("%s: %q, %q, want %q, %q", c.name, symbol, date, c.symbol, c.date)
		}
	}
}

// TestPresetsAreWhole: each has a schema that all of its rules fit, or none.
func TestPresetsAreWhole(t *testing.T) {
	for _, p := range Presets() {
		s, err := p.Schema()
		if p.Same {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		for _, r := range p.Rules {
			if _, ok := s.Index(r.To); !ok && r.To != "ts" {
				t.Errorf("%s: no field %s", p.Name, r.To)
			}
			if r.As.do == nil || r.As.about == "" {
				t.Errorf("%s: %s has no conversion", p.Name, r.To)
			}
		}
		for _, k := range p.Key {
			if _, ok := s.Index(k); !ok {
				t.Errorf("%s: the key has no field %s", p.Name, k)
			}
		}
	}
}

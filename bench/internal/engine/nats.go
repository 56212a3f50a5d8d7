package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"example.com/ledger/bench/internal/source"
)

func init() {
	register(Kind{Name: "NATS JetStream", Sync: true, NoSync: true, Open: openNATS})
}

// jetStream is an embedded server's file store, reached without a network. The
// records of a batch are on their way at once.
type jetStream struct {
	srv  *server.Server
	conn *nats.Conn
	js   nats.JetStreamContext
}

const subject = "fills"

func openNATS(dir string, o Options) (Engine, error) {
	srv, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: dir, SyncAlways: o.Sync, NoLog: true, NoSigs: true})
	if err != nil {
		return nil, err
	}
	srv.Start()
	if !srv.ReadyForConnections(20 * time.Second) {
		return nil, errors.New("the server did not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(srv))
	if err != nil {
		return nil, err
	}
	js, err := conn.JetStream(nats.PublishAsyncMaxPending(2*max(o.Goroutines, 1)*batchMax(o)), nats.MaxWait(20*time.Second))
	if err != nil {
		return nil, err
	}
	if _, err := js.StreamInfo(subject); errors.Is(err, nats.ErrStreamNotFound) {
		_, err = js.AddStream(&nats.StreamConfig{Name: subject, Subjects: []string{subject}, Storage: nats.FileStorage})
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return &jetStream{srv, conn, js}, nil
}

func (n *jetStream) Append(recs []byte) error {
	if len(recs) == source.Width {
		_, err := n.js.Publish(subject, recs)
		return err
	}
	acks := make([]nats.PubAckFuture, 0, len(recs)/source.Width)
	for ; len(recs) >= source.Width; recs = recs[source.Width:] {
		f, err := n.js.PublishAsync(subject, recs[:source.Width])
		if err != nil {
			return err
		}
		acks = append(acks, f)
	}
	for _, f := range acks {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return err
		}
	}
	return nil
}

func (n *jetStream) Get(dst []byte, seq uint64) ([]byte, error) {
	m, err := n.js.GetMsg(subject, seq+1)
	if err != nil {
		return dst, err
	}
	return append(dst, m.Data...), nil
}

// Scan has the server deliver the records to an ordered consumer.
func (n *jetStream) Scan(from, to uint64, visit func([]byte)) error {
	sub, err := n.js.SubscribeSync(subject, nats.OrderedConsumer(), nats.StartSequence(from+1))
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	for i := from; i < to; i++ {
		m, err := sub.NextMsg(20 * time.Second)
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		visit(m.Data)
	}
	return nil
}

func (n *jetStream) Drop(seq uint64) error {
	return n.js.PurgeStream(subject, &nats.StreamPurgeRequest{Sequence: seq + 1})
}

func (n *jetStream) Close() error {
	n.conn.Close()
	n.srv.Shutdown()
	n.srv.WaitForShutdown()
	return nil
}

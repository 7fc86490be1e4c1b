package histories
import ("testing";"fmt")
func TestDbg(t *testing.T) { s := write(*single); for _, b := range s.bursts { fmt.Println(b.at, b.partition, b.codec, b.aborted, len(b.records)) }
for _, f := range s.faults { fmt.Printf("fault %v-%v %+v\n", f.from, f.to, f.Fault) }
for _, d := range s.deaths { fmt.Printf("death %+v\n", d) }
for _, d := range s.acts { fmt.Printf("act %+v\n", d) }
s.bursts=nil; s.faults=nil; s.deaths=nil; s.acts=nil
s.exchange.Value=nil
fmt.Printf("%+v\n", s)
}

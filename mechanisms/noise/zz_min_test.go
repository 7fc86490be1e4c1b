package noise
import ("testing";"math/rand/v2";"time";"fmt")
func minTime(k int, f func()) time.Duration { best:=time.Hour; for i:=0;i<k;i++{ t:=time.Now(); f(); if d:=time.Since(t);d<best{best=d}}; return best}
func TestMin(t *testing.T){
 r := rand.New(rand.NewChaCha8([32]byte{1}))
 fd:=make([]float64,1024)
 for rep:=0;rep<1;rep++{
 d:=minTime(4000,func(){for i:=range fd{fd[i]=r.NormFloat64()}})
 fmt.Println("norm",float64(d.Nanoseconds())/1024)
 for _,n:=range []int{32,1024}{
 g,_:=NewGaussian(Scale{1,29}); dst:=make([]int64,n); var s Seed
 d=minTime(4000,func(){s[0]++;g.Fill(dst,s)})
 fmt.Println("gauss",n,float64(d.Nanoseconds())/float64(n))
 ga,_:=NewGamma(Scale{1,29},n)
 d=minTime(4000,func(){s[0]++;ga.Fill(dst,s)})
 fmt.Println("gamma",n,float64(d.Nanoseconds())/float64(n))
 }
 g,_:=NewGaussian(Scale{1,29})
 var s Seed
 g.draw.keys.open(s); w:=g.draw.keys.next(128)
 d=minTime(4000,func(){g.draw.keys.open(s)}); fmt.Println("open",d)
 d=minTime(4000,func(){g.draw.keys.next(128)}); fmt.Println("next/word",float64(d.Nanoseconds())/128)
 d=minTime(4000,func(){g.draw.curve.locate(&g.draw.points,w)}); fmt.Println("locate",float64(d.Nanoseconds())/128)
 dst:=make([]int64,128)
 d=minTime(4000,func(){g.draw.points.round(dst,0,g.draw.factor)}); fmt.Println("round",float64(d.Nanoseconds())/128)
 c:=NewChain(s); leaf:=make([]int64,32)
 d=minTime(4000,func(){c.Absorb(1,1,Identity{},leaf)}); fmt.Println("absorb32",d)
 d=minTime(4000,func(){c.Seed(NodeID{})}); fmt.Println("seed",d)
 d=minTime(100,func(){g.draw.slow(r.Uint64(),r.Uint64)}); fmt.Println("slow",d)
 }
}

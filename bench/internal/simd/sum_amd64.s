#include "textflag.h"

// func sumAVX2(p *byte, n uintptr) uint32
TEXT ·sumAVX2(SB), NOSPLIT, $0-20
	MOVQ  p+0(FP), SI
	MOVQ  n+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

loop:
	CMPQ       CX, $128
	JB         done
	PREFETCHT0 4096(SI)
	PREFETCHT0 4160(SI)
	VPADDD     (SI), Y0, Y0
	VPADDD     32(SI), Y1, Y1
	VPADDD     64(SI), Y2, Y2
	VPADDD     96(SI), Y3, Y3
	ADDQ       $128, SI
	SUBQ       $128, CX
	JMP        loop

done:
	VPADDD       Y1, Y0, Y0
	VPADDD       Y3, Y2, Y2
	VPADDD       Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, AX
	VZEROUPPER
	MOVL         AX, ret+16(FP)
	RET

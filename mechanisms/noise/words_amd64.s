//go:build !purego

#include "textflag.h"

// RotWord of a round key's last word, in every word: bytes 13, 14, 15, 12.
DATA rotate<>+0(SB)/8, $0x0c0f0e0d0c0f0e0d
DATA rotate<>+8(SB)/8, $0x0c0f0e0d0c0f0e0d
GLOBL rotate<>(SB), RODATA|NOPTR, $16

// The words a, b, c, d of X become a, a^b, a^b^c, a^b^c^d.
#define SUMS(X) \
	MOVO X, X2; \
	PSLLO $4, X2; \
	PXOR X2, X; \
	MOVO X, X2; \
	PSLLO $8, X2; \
	PXOR X2, X

// X0, X1 are the two round keys before, X4 is the round constant in every word, X5 is rotate, X6 is zero. AESENCLAST is SubBytes after
// ShiftRows, which changes nothing where all words are equal, and then adds its operand.
#define EVEN(at) \
	MOVO X1, X3; \
	PSHUFB X5, X3; \
	AESENCLAST X4, X3; \
	PSLLL $1, X4; \
	SUMS(X0); \
	PXOR X3, X0; \
	MOVOU X0, at(DI)

#define ODD(at) \
	PSHUFL $0xff, X0, X3; \
	AESENCLAST X6, X3; \
	SUMS(X1); \
	PXOR X3, X1; \
	MOVOU X1, at(DI)

// func expandKey(schedule *[15][2]uint64, key *Seed)
TEXT ·expandKey(SB), NOSPLIT, $0-16
	MOVQ schedule+0(FP), DI
	MOVQ key+8(FP), SI
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU rotate<>(SB), X5
	PXOR X6, X6
	PCMPEQL X4, X4 // 1 in every word
	PSRLL $31, X4
	MOVOU X0, 0(DI)
	MOVOU X1, 16(DI)
	EVEN(32)
	ODD(48)
	EVEN(64)
	ODD(80)
	EVEN(96)
	ODD(112)
	EVEN(128)
	ODD(144)
	EVEN(160)
	ODD(176)
	EVEN(192)
	ODD(208)
	EVEN(224)
	RET

// X is block CX + i, big-endian, after the first round key X8.
#define BLOCK(X, i) \
	LEAQ i(CX), DX; \
	BSWAPQ DX; \
	PXOR X, X; \
	PINSRQ $1, DX, X; \
	PXOR X8, X

#define ROUND(at) \
	MOVOU at(SI), X8; \
	AESENC X8, X0; \
	AESENC X8, X1; \
	AESENC X8, X2; \
	AESENC X8, X3; \
	AESENC X8, X4; \
	AESENC X8, X5; \
	AESENC X8, X6; \
	AESENC X8, X7

#define LAST(X, at) \
	AESENCLAST X8, X; \
	MOVOU X, at(DI)

// func encrypt(dst *int64, groups, block uint64, schedule *[15][2]uint64)
TEXT ·encrypt(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), BX
	MOVQ block+16(FP), CX
	MOVQ schedule+24(FP), SI

group:
	MOVOU 0(SI), X8
	BLOCK(X0, 0)
	BLOCK(X1, 1)
	BLOCK(X2, 2)
	BLOCK(X3, 3)
	BLOCK(X4, 4)
	BLOCK(X5, 5)
	BLOCK(X6, 6)
	BLOCK(X7, 7)
	ROUND(16)
	ROUND(32)
	ROUND(48)
	ROUND(64)
	ROUND(80)
	ROUND(96)
	ROUND(112)
	ROUND(128)
	ROUND(144)
	ROUND(160)
	ROUND(176)
	ROUND(192)
	ROUND(208)
	MOVOU 224(SI), X8
	LAST(X0, 0)
	LAST(X1, 16)
	LAST(X2, 32)
	LAST(X3, 48)
	LAST(X4, 64)
	LAST(X5, 80)
	LAST(X6, 96)
	LAST(X7, 112)
	ADDQ $8, CX
	ADDQ $128, DI
	DECQ BX
	JNZ group
	RET

// HEDDLE_KERNEL before a function compiles it for several instruction sets; the best one is chosen when the program
// starts. Write plain loops over Real inside, and HEDDLE_INLINE helpers that take part in the same treatment.
// Sums over a loop need HEDDLE_SIMD_SUM, which allows the compiler to reorder that one sum; HEDDLE_SIMD before a loop
// says that what it writes overlaps nothing that it reads elsewhere, which compilers cannot find out for many pointers.
#pragma once

// Only tests compute in double, which need neither the speed nor the compile time. HEDDLE_WITHOUT_AVX512 and
// HEDDLE_WITHOUT_AVX2 leave out what better processors choose, so that any can test the rest.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(HEDDLE_SANITIZED) && \
    !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX2)
#define HEDDLE_AVX2_CLONES
#ifdef HEDDLE_WITHOUT_AVX512
#define HEDDLE_KERNEL __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HEDDLE_AVX512_CLONES
#define HEDDLE_KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define HEDDLE_KERNEL
#endif

#define HEDDLE_INLINE inline __attribute__((always_inline))
#define HEDDLE_PRAGMA(text) _Pragma(#text)
#define HEDDLE_SIMD HEDDLE_PRAGMA(omp simd)
#define HEDDLE_SIMD_SUM(...) HEDDLE_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define HEDDLE_SIMD_MAX(...) HEDDLE_PRAGMA(omp simd reduction(max : __VA_ARGS__))

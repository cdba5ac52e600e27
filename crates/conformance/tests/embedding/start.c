// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A program without a C library: the five functions that compilers insert calls to (listed in the
 * documentation of Rust's core), and an entry point that exits with 0 if packets were marked.
 */
typedef unsigned long size;

unsigned int embedded_marks(void);

void *memcpy(void *to, const void *from, size n)
{
	for (size i = 0; i < n; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memmove(void *to, const void *from, size n)
{
	if (to <= from)
		return memcpy(to, from, n);
	while (n--)
		((volatile char *)to)[n] = ((const char *)from)[n];
	return to;
}

void *memset(void *to, int byte, size n)
{
	for (size i = 0; i < n; i++)
		((volatile char *)to)[i] = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size n)
{
	for (size i = 0; i < n; i++)
		if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i])
			return ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
	return 0;
}

int bcmp(const void *a, const void *b, size n)
{
	return memcmp(a, b, n);
}

static void leave(long code)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"(60L), "D"(code) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = 93;
	register long x0 __asm__("x0") = code;

	__asm__ volatile("svc 0" : : "r"(x8), "r"(x0) : "memory");
#else
#error "an exit for this machine"
#endif
	for (;;)
		;
}

#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
	leave(embedded_marks() > 1000 ? 0 : 1);
}

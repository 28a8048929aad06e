/* base/stack.h - the part of a secret that compilers leave behind.
 *
 * Callers:  functions at the edge of a room, after work on a person's secrets.
 */
#ifndef SOTTO_BASE_STACK_H
#define SOTTO_BASE_STACK_H

enum { SOTTO_STACK_WIPED = 8192 };

/* Overwrites that many bytes of stack below the caller's frame. */
void sotto_wipe_stack(void);

#endif

/* aggregate/methods.h - the table of methods with two servers, in halves: devices link the first alone.
 *
 * methods_full.c has the product's rows, methods.c those that libsotto-device has room for. A program that links a table of its own, as tests do, has those methods instead.
 */
#ifndef SOTTO_AGGREGATE_METHODS_H
#define SOTTO_AGGREGATE_METHODS_H

#include "aggregate/method.h"

extern const sotto_vdaf_client_ops *const sotto_vdaf_clients[];
extern const sotto_method *const sotto_two_server_methods[];
extern const size_t sotto_two_server_count; /* of rows; either half has one for each */

/* One list of names gives both halves. A row named x has sotto_x_client and sotto_method_x. */
#define SOTTO_CLIENT_ROW(name) &sotto_##name##_client,
#define SOTTO_METHOD_ROW(name) &sotto_method_##name,
#define SOTTO_COUNT_ROW(name)  +1
#define SOTTO_METHOD_TABLE(rows)                                                                   \
    const sotto_vdaf_client_ops *const sotto_vdaf_clients[] = {rows(SOTTO_CLIENT_ROW)};            \
    const sotto_method *const sotto_two_server_methods[] = {rows(SOTTO_METHOD_ROW)};               \
    const size_t sotto_two_server_count = 0 rows(SOTTO_COUNT_ROW)

#endif

/* math/field.h - short names for one field, so that code can be written once for all of them.
 *
 * A file defines SOTTO_FIELD as 64 or 128 (for PINE also 32 or 40) and includes this; `fe` is then that field's element and
 * FIELD(mul) its operation sotto_f64_mul or sotto_f128_mul. The *_template.h files of math/ and vdaf/
 * are compiled once for each field this way.
 */
#ifndef SOTTO_MATH_FIELD_H
#define SOTTO_MATH_FIELD_H

#ifndef SOTTO_FIELD
#error "define SOTTO_FIELD first"
#endif

#define SOTTO_FIELD_JOIN_(field, name) sotto_f##field##_##name
#define SOTTO_FIELD_JOIN(field, name)  SOTTO_FIELD_JOIN_(field, name)
#define FIELD(name)                    SOTTO_FIELD_JOIN(SOTTO_FIELD, name)

#if SOTTO_FIELD == 64
#include "math/field64.h"
typedef sotto_f64 fe;
enum { FE_SIZE = SOTTO_F64_SIZE };
#elif SOTTO_FIELD == 128
#include "math/field128.h"
typedef sotto_f128 fe;
enum { FE_SIZE = SOTTO_F128_SIZE };
#elif SOTTO_FIELD == 32
#include "math/field_small.h"
typedef sotto_f32 fe;
enum { FE_SIZE = SOTTO_F32_SIZE };
#elif SOTTO_FIELD == 40
#include "math/field_small.h"
typedef sotto_f40 fe;
enum { FE_SIZE = SOTTO_F40_SIZE };
#endif

typedef FIELD(acc) fe_acc;
typedef FIELD(sum) fe_sum;

#endif

/* The structure of every object and key: what a device checks its files by. The rows are in schema_rows.h. It is compiled
 * twice: libsotto-device has no rows of learning recipes, and no price of a committee's noise, for which it lacks the room. */
#include "recipe/encrypted.h"
#include "recipe/schema.h"

#define TEXT     SOTTO_SCHEMA_TEXT
#define FIELD    SOTTO_SCHEMA_TEXT /* stream.field; read_name checks it */
#define QUERY    SOTTO_SCHEMA_QUERY
#define NAME     SOTTO_SCHEMA_NAME
#define CHOICE   SOTTO_SCHEMA_CHOICE
#define FLAG     SOTTO_SCHEMA_FLAG
#define WHOLE    SOTTO_SCHEMA_WHOLE
#define NUMBER   SOTTO_SCHEMA_NUMBER
#define DECIMAL  SOTTO_SCHEMA_DECIMAL
#define TIME     SOTTO_SCHEMA_TIME
#define DURATION SOTTO_SCHEMA_DURATION
#define HEX      SOTTO_SCHEMA_HEX
#define OBJECT   SOTTO_SCHEMA_OBJECT
#define VARIANT  SOTTO_SCHEMA_VARIANT
#define LIST     SOTTO_SCHEMA_LIST
#define LATER    SOTTO_SCHEMA_LATER
#define MUST     NULL /* no default: the key must be there */
#define MAY      ""   /* no default: the key may be left out */

enum { BINS = SOTTO_RECIPE_MAX_BINS };

/* A key has its object as a number, since a pointer in a shared library costs 32 bytes. */
enum {
#define OBJECT_ROW(object, name, title, help) object,
#define KEY_ROW(object, key, type, item, least, most, of, fallback, help)
#include "recipe/schema_rows.h"
};

const sotto_schema_key sotto_schema[] = {
#define OBJECT_ROW(object, name, title, help)
#define KEY_ROW(object, key, type, item, least, most, of, fallback, help)                          \
    {object, key, type, item, least, most, of, fallback},
#include "recipe/schema_rows.h"
};
const size_t sotto_schema_count = sizeof sotto_schema / sizeof sotto_schema[0];

const char sotto_schema_objects[][SOTTO_SCHEMA_OBJECT_NAME] = {
#define OBJECT_ROW(object, name, title, help) name,
#define KEY_ROW(object, key, type, item, least, most, of, fallback, help)
#include "recipe/schema_rows.h"
};
const size_t sotto_schema_object_count =
    sizeof sotto_schema_objects / sizeof sotto_schema_objects[0];

#ifdef SOTTO_LEARNING_ROWS
sotto_committee_claim *const sotto_recipe_by_committee = sotto_encrypted_claim;
#else
sotto_committee_claim *const sotto_recipe_by_committee = NULL;
#endif

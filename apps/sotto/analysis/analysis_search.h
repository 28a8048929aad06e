/* apps/sotto/analysis/analysis_search.h - what the files of `sotto analysis discover` share.
 *
 *     analysis_search.c    settings of a search: from arguments into the folder, and back
 *     analysis_discover.c  its rounds
 *     analysis_found.c     what it found: text, JSON, CSV
 */
#ifndef SOTTO_APPS_ANALYSIS_SEARCH_H
#define SOTTO_APPS_ANALYSIS_SEARCH_H

#include "analysis.h"

typedef struct discovery {
    analysis_job *job;
    sotto_search_options options;
    sotto_search search;
    const sotto_recipe *frame;
    sotto_study_answer counted; /* of the count at the end */
    sotto_arena round;
    bool done;
} discovery;

/* What the arguments say of a search, into an empty object. An exit code, after having said why. */
int analysis_search_settings(json_t *out, const analysis_options *o);
/* Whether no argument says anything of a search. */
bool analysis_search_is_fixed(const analysis_options *o);
/* Opens the search that the job's settings have, over this frame. An exit code. */
int analysis_search_open(discovery *d, sotto_bytes frame);
/* "words", "phrases" or "places". */
const char *analysis_search_things(const discovery *d);
/* `most`: lines of text at most. An exit code. */
int analysis_search_show(const discovery *d, FILE *out, bool json, bool csv, size_t most);

#endif

/* privacy/adjacency.h - the words of a claim are public: sotto/privacy.h has them. */
#ifndef SOTTO_PRIVACY_ADJACENCY_H
#define SOTTO_PRIVACY_ADJACENCY_H

#include "sotto/privacy.h"

#endif

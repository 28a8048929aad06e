/* Complete files that fit each other: what `sotto recipe new` prints, and where tests start from. */
#include "recipe/schema.h"

#include "sotto/lint.h"

/* clang-format off */
static const char recipe[] =
    "{\n"
    "  \"recipe\": \"50001\",\n"
    "  \"version\": 1,\n"
    "  \"analysis\": \"com.example.keyboard-ngrams\",\n"
    "  \"description\": \"Which phrases of three words people type, by age, to offer better next words.\",\n"
    "  \"query\": \"SELECT age, ngram FROM keyboard_ngrams\",\n"
    "  \"pick\": \"one-at-random\",\n"
    "  \"cohorts\": {\"locale\": [\"en_US\", \"en_GB\"]},\n"
    "  \"encode\": {\n"
    "    \"age\": {\"type\": \"buckets\", \"boundaries\": [20, 30, 40, 50, 60, 70, 80], \"underflow\": \"oov\", \"overflow\": \"bucket\"},\n"
    "    \"ngram\": {\n"
    "      \"type\": \"prefix-tree\",\n"
    "      \"tree\": {\"root\": [\"hello\", \"i\"], \"hello\": [\"world\"], \"i\": [\"went\", \"got\"]},\n"
    "      \"tokens\": [\"a\", \"and\", \"got\", \"hello\", \"home\", \"i\", \"school\", \"went\", \"world\"],\n"
    "      \"oov\": true,\n"
    "      \"end\": true\n"
    "    },\n"
    "    \"combine\": [\"age\", \"ngram\"]\n"
    "  },\n"
    "  \"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 2.0},\n"
    "  \"participation\": {\"type\": \"poisson\", \"rate\": 0.1},\n"
    "  \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 0.30, \"delta\": 1e-6, \"min_cohort\": 40000},\n"
    "  \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader-2026a\", \"helper\": \"key:helper-2026a\"},\n"
    "  \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\", \"precision\": \"1h\"},\n"
    "  \"population\": 1000000,\n"
    "  \"on_no_match\": \"no-value\"\n"
    "}\n";

static const char policy[] =
    "{\n"
    "  \"policy\": \"com.example.keyboard\",\n"
    "  \"version\": 1,\n"
    "  \"analyses\": {\n"
    "    \"com.example.keyboard-ngrams\": {\n"
    "      \"epsilon\": 0.5,\n"
    "      \"delta\": 1e-6,\n"
    "      \"reports\": 1,\n"
    "      \"fields\": [\"keyboard_ngrams.ngram\", \"keyboard_ngrams.age\", \"keyboard_ngrams.perplexity\"]\n"
    "    }\n"
    "  },\n"
    "  \"fields\": {\n"
    "    \"keyboard_ngrams.ngram\": {\"epsilon_local\": 5, \"epsilon\": 1, \"delta\": 1e-6, \"reports\": 1},\n"
    "    \"keyboard_ngrams.age\": {\"epsilon_local\": 2, \"epsilon\": 0.3, \"delta\": 1e-6, \"reports\": 1},\n"
    "    \"keyboard_ngrams.perplexity\": {\"epsilon_local\": 8, \"epsilon\": 1, \"delta\": 1e-6, \"reports\": 1}\n"
    "  },\n"
    "  \"non_sensitive\": [\"locale\"],\n"
    "  \"min_cohort\": 20000,\n"
    "  \"honest\": 0.5\n"
    "}\n";

static const char parties[] =
    "{\n"
    "  \"key:leader-2026a\": {\n"
    "    \"role\": \"leader\",\n"
    "    \"url\": \"https://leader.example.com/\",\n"
    "    \"hpke\": [{\"config\": \"01002000010001002010f3cfb3f97e5965b0085b121428b8f4c620915e5b69506d70b7b201b7786857\", \"from\": \"2026-01-01T00:00:00Z\", \"until\": \"2027-07-01T00:00:00Z\"}]\n"
    "  },\n"
    "  \"key:helper-2026a\": {\n"
    "    \"role\": \"helper\",\n"
    "    \"url\": \"https://helper.example.net/\",\n"
    "    \"hpke\": [{\"config\": \"020020000100010020fd2c4dd1c8a6b88fe1fc59ce441398f5ea83a9296e210997ac63bed970b86028\", \"from\": \"2026-01-01T00:00:00Z\", \"until\": \"2027-07-01T00:00:00Z\"}]\n"
    "  },\n"
    "  \"key:collector-2026a\": {\n"
    "    \"role\": \"collector\",\n"
    "    \"hpke\": [{\"config\": \"030020000100010020ae3bf1cd87c2d2ed25af4a1a239eed04a990f00e7403e4c8065927de010fd17a\", \"from\": \"2026-01-01T00:00:00Z\", \"until\": \"2027-07-01T00:00:00Z\"}]\n"
    "  }\n"
    "}\n";

static const char streams[] =
    "{\n"
    "  \"keyboard_ngrams\": {\n"
    "    \"fields\": {\"age\": \"integer\", \"ngram\": \"text\", \"perplexity\": \"real\"},\n"
    "    \"max_age\": \"30d\",\n"
    "    \"max_rows\": 10000\n"
    "  }\n"
    "}\n";

/* clang-format on */

const char *sotto_recipe_example(void)
{
    return recipe;
}

const char *sotto_policy_example(void)
{
    return policy;
}

const char *sotto_parties_example(void)
{
    return parties;
}

const char *sotto_streams_example(void)
{
    return streams;
}

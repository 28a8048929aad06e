/* vdaf/pine/query_template.h - the aggregators' side of PINE's two proofs.
 *
 * Each evaluates its shares of the wire polynomials and of the gadget polynomial at a random point. A verifier is the share
 * of what must vanish, of each wire's value, and of the gadget's.
 */

/* The gadget polynomial's values at all 2P roots. */
static void read_gadget(const sotto_pine *pine, const sotto_pine_circuit *c, fe *gadget,
                        const uint8_t *known)
{
    const pine_tables *t = c->tables;
    size_t n = 2 * wire_count(c);
    unsigned log = c->wire_log + 1;

    if (pine->config.wire == SOTTO_PINE_DRAFT20) {
        for (size_t k = 0; k < n - 1; k++)
            gadget[k] = get(known, k);
        gadget[n - 1] = FIELD(last_value)(known, log, t->gadget_roots);
        return;
    }
    gadget[n - 1] = FIELD(zero)(); /* n - 1 is its own reverse */
    for (size_t k = 0; k < n - 1; k++)
        gadget[reverse_bits(k, log)] = get(known, k);
    FIELD(to_values)(gadget, log, t->gadget_roots);
}

/* What both queries begin with. */
typedef struct query_point {
    fe *gadget;  /* its values at all roots       */
    fe *factors; /* P Lagrange factors of the point, times P */
    fe at_point; /* the gadget polynomial there   */
    bool good;   /* the point is no root of unity */
} query_point;

static query_point prepare(const sotto_pine *pine, const sotto_pine_circuit *c,
                           const uint8_t *proof, const uint8_t *query_rand, fe *room)
{
    const pine_tables *t = c->tables;
    size_t n = 2 * wire_count(c);
    query_point q = {.gadget = room, .factors = room + n};
    fe point = FIELD(to_weight)(get(query_rand, 0));
    fe_acc acc = {0};

    read_gadget(pine, c, q.gadget, proof + c->arity * FE_SIZE);
    (void)FIELD(factors)(q.factors, c->wire_log + 1, 0, point, t->gadget_roots);
    for (size_t k = 0; k < n; k++)
        FIELD(acc_mul)(&acc, q.gadget[k], q.factors[k]);
    q.at_point = FIELD(mul)(FIELD(acc_reduce)(&acc), t->gadget_inv);
    fe to_p = FIELD(factors)(q.factors, c->wire_log, 0, point, t->wire_roots);
    q.good = !FIELD(equal)(to_p, FIELD(one_weight)());
    return q;
}

static fe sum_of_outputs(const fe *gadget, size_t first, size_t last)
{
    fe_sum sum = {0};

    for (size_t k = first; k <= last; k++)
        FIELD(sum_add)(&sum, gadget[2 * k]);
    return FIELD(sum_reduce)(&sum);
}

static bool query_norm(const sotto_pine *pine, uint8_t *verifier, const uint8_t *meas,
                       const uint8_t *proof, const uint8_t *query_rand, void *memory)
{
    const sotto_pine_circuit *c = &pine->norm;
    const pine_tables *t = c->tables;
    size_t d = (size_t)pine->config.dimension;
    fe_acc *wires = memory;
    query_point q = prepare(pine, c, proof, query_rand, (fe *)(wires + c->arity));

    memset(wires, 0, c->arity * sizeof *wires);
    for (size_t j = 0; j < c->arity; j++)
        FIELD(acc_mul)(&wires[j], get(proof, j), q.factors[0]);
    for (size_t k = 1, index = 0; k <= c->calls; k++)
        for (size_t j = 0; j < c->chunk && index < d; j++, index++)
            FIELD(acc_mul)(&wires[j], get(meas, index), q.factors[k]);
    for (size_t j = 0; j < c->arity; j++)
        put(verifier, 1 + j, FIELD(mul)(FIELD(acc_reduce)(&wires[j]), t->wire_inv));
    put(verifier, 0,
        FIELD(sub)(unspell(meas + d * FE_SIZE, pine->norm_bits),
                   sum_of_outputs(q.gadget, 1, c->calls)));
    put(verifier, 1 + c->arity, q.at_point);
    return q.good;
}

static void put_wires(const sotto_pine_circuit *c, uint8_t *verifier, const uint8_t *seeds,
                      const fe *inputs, const fe *factors, unsigned side)
{
    const pine_tables *t = c->tables;

    for (size_t j = 0; j < c->chunk; j++) {
        fe_acc acc = {0};

        FIELD(acc_mul)(&acc, get(seeds, 2 * j + side), factors[0]);
        for (size_t k = 1; k <= c->calls; k++)
            FIELD(acc_mul)(&acc, inputs[(k - 1) * c->chunk + j], factors[k]);
        put(verifier, 1 + 2 * j + side, FIELD(mul)(FIELD(acc_reduce)(&acc), t->wire_inv));
    }
}

/* Bits, then the norm's range, then dot products, then the number of successes: each must vanish. */
static fe main_output(const sotto_pine *pine, const fe *gadget, const uint8_t *meas,
                      const uint8_t *joint_rand, fe one)
{
    const uint8_t *norm = meas + pine->config.dimension * FE_SIZE;
    size_t split = calls_for_bits(pine);
    fe r = FIELD(to_weight)(get(joint_rand, 2));
    fe bound = FIELD(from)(pine->config.norm_bound);
    fe_sum successes = {0};

    for (size_t i = 0; i < pine->config.checks; i++)
        FIELD(sum_add)(&successes, get(dot_bits(pine, meas, i), pine->wrap_bits));
    fe count = FIELD(sub)(FIELD(sum_reduce)(&successes),
                          plain_product(one, FIELD(from)(pine->config.successes)));
    fe dots = sum_of_outputs(gadget, split + 1, pine->main.calls);
    fe range = FIELD(sub)(FIELD(add)(unspell(norm, pine->norm_bits),
                                     unspell(norm + pine->norm_bits * FE_SIZE, pine->norm_bits)),
                          plain_product(one, plain_product(bound, bound)));
    fe sum = FIELD(add)(FIELD(mul)(count, r), dots);
    sum = FIELD(add)(FIELD(mul)(sum, r), range);
    return FIELD(add)(FIELD(mul)(sum, r), sum_of_outputs(gadget, 1, split));
}

static bool query_main(const sotto_pine *pine, uint8_t *verifier, const sotto_pine_claim *claim,
                       const uint8_t *proof, const uint8_t *query_rand, const uint8_t *joint_rand,
                       void *memory)
{
    const sotto_pine_circuit *c = &pine->main;
    const pine_tables *t = c->tables;
    fe *room = memory, *left = room + 4 * wire_count(c), *right = left + inputs_of_main(pine);
    query_point q = prepare(pine, c, proof, query_rand, room);

    main_inputs(pine, left, right, claim, joint_rand, t->half);
    put_wires(c, verifier, proof, left, q.factors, 0);
    put_wires(c, verifier, proof, right, q.factors, 1);
    put(verifier, 0, main_output(pine, q.gadget, claim->meas, joint_rand, t->half));
    put(verifier, 1 + c->arity, q.at_point);
    return q.good;
}

/* ---- decision ------------------------------------------------------------------------------------ */

static fe joined(const uint8_t *leader, const uint8_t *helper, size_t index)
{
    return FIELD(add)(get(leader, index), get(helper, index));
}

/* Wires are paired `step` apart: 0 squares each, 1 multiplies neighbours. */
static bool decide(const sotto_pine_circuit *c, const uint8_t *leader, const uint8_t *helper,
                   size_t step)
{
    fe_acc acc = {0};

    for (size_t j = 0; j < c->arity; j += 1 + step)
        FIELD(acc_mul)
    (&acc, joined(leader, helper, 1 + j), FIELD(to_weight)(joined(leader, helper, 1 + j + step)));
    return (FIELD(equal)(joined(leader, helper, 0), FIELD(zero)()) &
            FIELD(equal)(FIELD(acc_reduce)(&acc), joined(leader, helper, 1 + c->arity))) != 0;
}

static bool decide_norm(const sotto_pine *pine, const uint8_t *leader, const uint8_t *helper)
{
    return decide(&pine->norm, leader, helper, 0);
}

static bool decide_main(const sotto_pine *pine, const uint8_t *leader, const uint8_t *helper)
{
    return decide(&pine->main, leader, helper, 1);
}

#define PINE_OPS(field_bits, roots, low, high)                                                     \
    {                                                                                              \
        .bits = field_bits, .element_size = FE_SIZE, .root_log = roots, .modulus_low = low,        \
        .modulus_high = high, .tables_size = tables_size, .tables_init = tables_init,              \
        .canonical = canonical, .sieve_vartime = sieve_vartime, .subtract = subtract, .add = add,  \
        .encode = encode, .spell = spell, .from_planes = from_planes, .within = within,            \
        .decode = decode, .scratch = scratch, .prove_norm = prove_norm, .prove_main = prove_main,  \
        .query_norm = query_norm, .query_main = query_main, .decide_norm = decide_norm,            \
        .decide_main = decide_main,                                                                \
    }

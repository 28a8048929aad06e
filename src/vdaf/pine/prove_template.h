/* vdaf/pine/prove_template.h - the client's side of PINE's two proofs.
 *
 * A proof is the wire seeds and the gadget polynomial. A wire's polynomial takes its seed at node 0 and its k-th input at
 * node k of P roots of unity. The gadget is a sum of products of wires, so its polynomial is known from its values at 2P
 * roots: at the P nodes, and between them.
 */

/* All weights but `half`. P = 2^wire_log, N = 2P. */
typedef struct pine_tables {
    fe *gadget_roots;
    fe *wire_roots;
    fe *odd_shift; /* see sotto_f64_odd_shift */
    fe wire_inv;   /* 1/P */
    fe gadget_inv; /* 1/N */
    fe half;       /* 1/2, plain */
} pine_tables;

static size_t wire_count(const sotto_pine_circuit *c)
{
    return (size_t)1 << c->wire_log;
}

static size_t tables_size(const sotto_pine_circuit *c)
{
    return sizeof(pine_tables) + 4 * wire_count(c) * sizeof(fe);
}

static fe inverse_weight(uint64_t x)
{
    return FIELD(inv)(FIELD(to_weight)(FIELD(from)(x)));
}

static void tables_init(const sotto_pine_circuit *c, void *memory)
{
    pine_tables *t = memory;
    size_t p = wire_count(c);

    t->gadget_roots = (fe *)(t + 1);
    t->wire_roots = t->gadget_roots + 2 * p;
    t->odd_shift = t->wire_roots + p;
    FIELD(roots)(t->gadget_roots, c->wire_log + 1);
    FIELD(roots)(t->wire_roots, c->wire_log);
    FIELD(odd_shift)(t->odd_shift, c->wire_log);
    t->wire_inv = inverse_weight(p);
    t->gadget_inv = inverse_weight(2 * p);
    t->half = FIELD(mul)(FIELD(one)(), inverse_weight(2));
}

static size_t inputs_of_main(const sotto_pine *pine)
{
    return pine->main.calls * pine->main.chunk;
}

/* For either prover and either query; each lays it out as it needs. */
static size_t scratch(const sotto_pine *pine)
{
    size_t p = wire_count(&pine->norm), q = wire_count(&pine->main);
    size_t most = p > q ? p : q;
    size_t wires = pine->norm.arity > pine->main.arity ? pine->norm.arity : pine->main.arity;

    return (5 * most + 2 * inputs_of_main(pine)) * sizeof(fe) + (2 * most + wires) * sizeof(fe_acc);
}

static size_t reverse_bits(size_t k, unsigned log)
{
    size_t reversed = 0;

    for (unsigned i = 0; i < log; i++)
        reversed |= (k >> i & 1) << (log - 1 - i);
    return reversed;
}

/* Sums of products at the nodes and between them become what a proof says of the gadget. */
static void put_gadget(const sotto_pine *pine, const sotto_pine_circuit *c, uint8_t *out,
                       const fe_acc *at_nodes, const fe_acc *between, fe *gadget)
{
    const pine_tables *t = c->tables;
    size_t p = wire_count(c);
    unsigned log = c->wire_log + 1;

    for (size_t k = 0; k < p; k++) {
        gadget[2 * k] = FIELD(acc_reduce)(&at_nodes[k]);
        gadget[2 * k + 1] = FIELD(acc_reduce)(&between[k]);
    }
    if (pine->config.wire == SOTTO_PINE_DRAFT20) {
        for (size_t k = 0; k < 2 * p - 1; k++)
            put(out, k, gadget[k]);
        return;
    }
    FIELD(to_coefficients)(gadget, log, t->gadget_roots);
    for (size_t k = 0; k < 2 * p - 1; k++)
        put(out, k, FIELD(mul)(gadget[reverse_bits(k, log)], t->gadget_inv));
}

static void add_products(fe_acc *sums, const fe *left, const fe *right, size_t count)
{
    for (size_t k = 0; k < count; k++)
        FIELD(acc_mul)(&sums[k], left[k], FIELD(to_weight)(right[k]));
}

static void prove_norm(const sotto_pine *pine, uint8_t *proof, const uint8_t *vector,
                       const uint8_t *prove_rand, void *memory)
{
    const sotto_pine_circuit *c = &pine->norm;
    const pine_tables *t = c->tables;
    size_t p = wire_count(c), d = (size_t)pine->config.dimension;
    fe_acc *at_nodes = memory, *between = at_nodes + p;
    fe *gadget = (fe *)(between + p), *wire = gadget + 2 * p;

    memcpy(proof, prove_rand, c->arity * FE_SIZE);
    memset(at_nodes, 0, 2 * p * sizeof *at_nodes);
    for (size_t j = 0; j < c->chunk; j++) {
        wire[0] = get(prove_rand, j);
        for (size_t k = 1; k < p; k++) {
            size_t index = (k - 1) * c->chunk + j;

            wire[k] = k <= c->calls && index < d ? get(vector, index) : FIELD(zero)();
        }
        add_products(at_nodes, wire, wire, p);
        FIELD(to_odd_values)(wire, c->wire_log, t->wire_roots, t->odd_shift);
        add_products(between, wire, wire, p);
    }
    put_gadget(pine, c, proof + c->arity * FE_SIZE, at_nodes, between, gadget);
}

/* ---- the main proof ------------------------------------------------------------------------------ */

/* Elements of the measurement behind the vector: what is left of the norm, then each dot product's bits and success. */
static const uint8_t *dot_bits(const sotto_pine *pine, const uint8_t *meas, size_t i)
{
    return meas + (pine->head_len + i * (pine->wrap_bits + 1)) * FE_SIZE;
}

static size_t calls_for_bits(const sotto_pine *pine)
{
    return (pine->bits + pine->main.chunk - 1) / pine->main.chunk;
}

/* Products that must vanish: r^i * bit * (bit - 1), then r^i * (dot product - claimed one) * success. `one` is this
 * party's share of 1; an input is linear in the claim, so shares of a claim give shares of inputs. */
static void main_inputs(const sotto_pine *pine, fe *left, fe *right, const sotto_pine_claim *claim,
                        const uint8_t *joint_rand, fe one)
{
    const uint8_t *bits = claim->meas + pine->config.dimension * FE_SIZE;
    fe r = FIELD(to_weight)(get(joint_rand, 0)), power = FIELD(one_weight)();
    fe offset = plain_product(one, FIELD(from)(pine->wrap_bound - 1));

    for (size_t i = 0; i < inputs_of_main(pine); i++)
        left[i] = right[i] = FIELD(zero)();
    for (size_t i = 0; i < pine->bits; i++) {
        fe bit = get(bits, i);

        left[i] = FIELD(mul)(bit, power);
        right[i] = FIELD(sub)(bit, one);
        power = FIELD(mul)(power, r);
    }
    left += calls_for_bits(pine) * pine->main.chunk;
    right += calls_for_bits(pine) * pine->main.chunk;
    r = FIELD(to_weight)(get(joint_rand, 1)), power = FIELD(one_weight)();
    for (size_t i = 0; i < pine->config.checks; i++) {
        const uint8_t *spelled = dot_bits(pine, claim->meas, i);
        fe claimed = FIELD(sub)(unspell(spelled, pine->wrap_bits), offset);

        left[i] = FIELD(mul)(FIELD(sub)(get(claim->dots, i), claimed), power);
        right[i] = get(spelled, pine->wrap_bits);
        power = FIELD(mul)(power, r);
    }
}

static void fill_wire(const sotto_pine_circuit *c, fe *wire, fe seed, const fe *inputs, size_t j)
{
    wire[0] = seed;
    for (size_t k = 1; k < wire_count(c); k++)
        wire[k] = k <= c->calls ? inputs[(k - 1) * c->chunk + j] : FIELD(zero)();
}

static void prove_main(const sotto_pine *pine, uint8_t *proof, const sotto_pine_claim *claim,
                       const uint8_t *prove_rand, const uint8_t *joint_rand, void *memory)
{
    const sotto_pine_circuit *c = &pine->main;
    const pine_tables *t = c->tables;
    size_t p = wire_count(c);
    fe_acc *at_nodes = memory, *between = at_nodes + p;
    fe *gadget = (fe *)(between + p), *a = gadget + 2 * p, *b = a + p, *left = b + p;
    fe *right = left + inputs_of_main(pine);

    memcpy(proof, prove_rand, c->arity * FE_SIZE);
    memset(at_nodes, 0, 2 * p * sizeof *at_nodes);
    main_inputs(pine, left, right, claim, joint_rand, FIELD(one)());
    for (size_t j = 0; j < c->chunk; j++) {
        fill_wire(c, a, get(prove_rand, 2 * j), left, j);
        fill_wire(c, b, get(prove_rand, 2 * j + 1), right, j);
        add_products(at_nodes, a, b, p);
        FIELD(to_odd_values)(a, c->wire_log, t->wire_roots, t->odd_shift);
        FIELD(to_odd_values)(b, c->wire_log, t->wire_roots, t->odd_shift);
        add_products(between, a, b, p);
    }
    put_gadget(pine, c, proof + c->arity * FE_SIZE, at_nodes, between, gadget);
}

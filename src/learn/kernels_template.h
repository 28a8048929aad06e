/* learn/kernels_template.h - the kernels, over vectors of eight lanes that the including file defines.
 *
 * The sizes of a block are constants where a block is called, so that compilers keep its sums in registers. How a batch is cut
 * into blocks changes no result: every number is a sum of its own, over its inputs in their order.
 */
#include <string.h>

/* Up to eight lanes; `count` may be more. */
INLINE v8 load_some(const float *p, size_t count)
{
    return count >= SOTTO_KERNEL_LANES ? v_load(p) : v_load_part(p, count);
}

INLINE void store_some(float *p, size_t count, v8 x)
{
    if (count >= SOTTO_KERNEL_LANES)
        v_store(p, x);
    else
        v_store_part(p, count, x);
}

/* ---- dense layers ---------------------------------------------------------------------------------------- */

enum { DOT_ROWS = 2, DOT_OUTS = 4 };

/* y[r][o] = x[r] . w[o] + bias[o] */
INLINE void dot_block(float *y, const float *x, const float *w, const float *bias, size_t outs,
                      size_t ins, const size_t block_rows, const size_t block_outs)
{
    v8 sum[DOT_ROWS][DOT_OUTS];
    size_t i = 0;

    for (size_t r = 0; r < block_rows; r++)
        for (size_t o = 0; o < block_outs; o++)
            sum[r][o] = v_all(0);
    for (; i + SOTTO_KERNEL_LANES <= ins; i += SOTTO_KERNEL_LANES) {
        v8 in[DOT_ROWS];

        for (size_t r = 0; r < block_rows; r++)
            in[r] = v_load(x + r * ins + i);
        for (size_t o = 0; o < block_outs; o++) {
            const v8 weight = v_load(w + o * ins + i);

            for (size_t r = 0; r < block_rows; r++)
                sum[r][o] = v_fma(weight, in[r], sum[r][o]);
        }
    }
    for (size_t r = 0; r < block_rows; r++)
        for (size_t o = 0; o < block_outs; o++) {
            if (i < ins)
                sum[r][o] = v_fma(v_load_part(w + o * ins + i, ins - i),
                                  v_load_part(x + r * ins + i, ins - i), sum[r][o]);
            y[r * outs + o] = v_sum(sum[r][o]) + bias[o];
        }
}

static void dense_forward(float *y, const float *x, const float *w, const float *bias, size_t rows,
                          size_t outs, size_t ins)
{
    size_t o = 0;

    for (; o + DOT_OUTS <= outs; o += DOT_OUTS) {
        size_t r = 0;

        for (; r + DOT_ROWS <= rows; r += DOT_ROWS)
            dot_block(y + r * outs + o, x + r * ins, w + o * ins, bias + o, outs, ins, DOT_ROWS,
                      DOT_OUTS);
        if (r < rows)
            dot_block(y + r * outs + o, x + r * ins, w + o * ins, bias + o, outs, ins, 1, DOT_OUTS);
    }
    for (; o < outs; o++)
        for (size_t r = 0; r < rows; r++)
            dot_block(y + r * outs + o, x + r * ins, w + o * ins, bias + o, outs, ins, 1, 1);
}

enum { SPREAD_ROWS = 4, SPREAD_VECTORS = 2 };

/* out[r] (+)= sum over k of factor[r, k] times from[k], for rows r and lanes of a vector or two. */
typedef struct spread {
    float *out;
    size_t out_step; /* from one r to the next */
    const float *factor;
    size_t factor_step, factor_next; /* from one r, one k, to the next */
    const float *from;
    size_t from_next; /* from one k to the next */
    size_t count;     /* of k                   */
    bool adds;
} spread;

INLINE void spread_block(const spread *s, size_t row, size_t lane, size_t part,
                         const size_t block_rows, const size_t vectors)
{
    v8 sum[SPREAD_ROWS][SPREAD_VECTORS];
    const float *factor = s->factor + row * s->factor_step, *from = s->from + lane;
    float *out = s->out + row * s->out_step + lane;
    const size_t factor_step = s->factor_step;

    for (size_t r = 0; r < block_rows; r++)
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = v_all(0);
    for (size_t k = s->count; k > 0; k--) {
        v8 in[SPREAD_VECTORS];

        for (size_t v = 0; v < vectors; v++)
            in[v] = part ? v_load_part(from, part) : v_load(from + v * SOTTO_KERNEL_LANES);
        for (size_t r = 0; r < block_rows; r++) {
            const v8 weight = v_all(factor[r * factor_step]);

            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = v_fma(weight, in[v], sum[r][v]);
        }
        factor += s->factor_next;
        from += s->from_next;
    }
    for (size_t r = 0; r < block_rows; r++)
        for (size_t v = 0; v < vectors; v++) {
            float *at = out + r * s->out_step + v * SOTTO_KERNEL_LANES;

            if (part)
                v_store_part(at, part,
                             s->adds ? v_add(v_load_part(at, part), sum[r][v]) : sum[r][v]);
            else
                v_store(at, s->adds ? v_add(v_load(at), sum[r][v]) : sum[r][v]);
        }
}

INLINE void spread_rows(const spread *s, size_t row, size_t lanes, const size_t block_rows)
{
    const size_t both = (size_t)SPREAD_VECTORS * SOTTO_KERNEL_LANES;
    size_t at = 0;

    for (; at + both <= lanes; at += both)
        spread_block(s, row, at, 0, block_rows, SPREAD_VECTORS);
    if (at + SOTTO_KERNEL_LANES <= lanes) {
        spread_block(s, row, at, 0, block_rows, 1);
        at += SOTTO_KERNEL_LANES;
    }
    if (at < lanes)
        spread_block(s, row, at, lanes - at, block_rows, 1);
}

static void spread_all(const spread *s, size_t rows, size_t lanes)
{
    size_t row = 0;

    for (; row + SPREAD_ROWS <= rows; row += SPREAD_ROWS)
        spread_rows(s, row, lanes, SPREAD_ROWS);
    for (; row < rows; row++)
        spread_rows(s, row, lanes, 1);
}

static void dense_input(float *dx, const float *dy, const float *w, size_t rows, size_t outs,
                        size_t ins)
{
    spread s = {.out_step = ins,
                .factor = dy,
                .factor_step = outs,
                .factor_next = 1,
                .from = w,
                .from_next = ins,
                .count = outs};

    s.out = dx;
    spread_all(&s, rows, ins);
}

static void dense_weights(float *dw, float *dbias, const float *dy, const float *x, size_t rows,
                          size_t outs, size_t ins)
{
    spread s = {.out_step = ins,
                .factor = dy,
                .factor_step = 1,
                .factor_next = outs,
                .from = x,
                .from_next = ins,
                .count = rows,
                .adds = true};

    s.out = dw;
    spread_all(&s, outs, ins);
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < outs; o++)
            dbias[o] += dy[r * outs + o];
}

/* ---- convolutions ------------------------------------------------------------------------------------------- */

enum { CONV_TILES = 2, CONV_OUTS = 6 };

/* Up to eight neighbours of a row of the output. */
typedef struct tile {
    size_t in, out; /* where its first lane stands, in a channel of the input and of the output */
    size_t lanes;
} tile;

typedef struct conv_plan {
    size_t in_plane, out_plane, width, rows, out_width, count;
    tile tiles[SOTTO_CONV_SIDE * SOTTO_CONV_SIDE / SOTTO_KERNEL_LANES];
} conv_plan;

static void conv_prepare(conv_plan *p, const sotto_conv *c)
{
    p->width = c->width;
    p->rows = c->height - SOTTO_CONV_SIZE + 1;
    p->out_width = c->width - SOTTO_CONV_SIZE + 1;
    p->in_plane = c->height * c->width;
    p->out_plane = p->rows * p->out_width;
    p->count = 0;
    for (size_t row = 0; row < p->rows; row++)
        for (size_t at = 0; at < p->out_width; at += SOTTO_KERNEL_LANES) {
            const size_t left = p->out_width - at;

            p->tiles[p->count++] =
                (tile){row * c->width + at, row * p->out_width + at,
                       left < SOTTO_KERNEL_LANES ? left : (size_t)SOTTO_KERNEL_LANES};
        }
}

INLINE void conv_block(float *y, const float *x, const float *w, const float *bias,
                       const conv_plan *p, size_t in, size_t first, const size_t tiles,
                       const size_t outs)
{
    v8 sum[CONV_OUTS][CONV_TILES];
    const float *plane[CONV_TILES];
    const size_t out_step = in * SOTTO_CONV_TAPS;

    for (size_t t = 0; t < tiles; t++)
        plane[t] = x + p->tiles[first + t].in;
    for (size_t o = 0; o < outs; o++)
        for (size_t t = 0; t < tiles; t++)
            sum[o][t] = v_all(bias[o]);
    for (size_t channel = 0; channel < in; channel++) {
        for (size_t row = 0; row < SOTTO_CONV_SIZE; row++) {
            for (size_t column = 0; column < SOTTO_CONV_SIZE; column++) {
                v8 input[CONV_TILES];

                for (size_t t = 0; t < tiles; t++)
                    input[t] = v_load(plane[t] + row * p->width + column);
                for (size_t o = 0; o < outs; o++) {
                    const v8 weight = v_all(w[o * out_step + column]);

                    for (size_t t = 0; t < tiles; t++)
                        sum[o][t] = v_fma(weight, input[t], sum[o][t]);
                }
            }
            w += SOTTO_CONV_SIZE;
        }
        for (size_t t = 0; t < tiles; t++)
            plane[t] += p->in_plane;
    }
    for (size_t o = 0; o < outs; o++)
        for (size_t t = 0; t < tiles; t++)
            store_some(y + o * p->out_plane + p->tiles[first + t].out, p->tiles[first + t].lanes,
                       sum[o][t]);
}

INLINE void conv_outs(float *y, const float *x, const float *w, const float *bias,
                      const conv_plan *p, size_t in, const size_t outs)
{
    size_t t = 0;

    for (; t + CONV_TILES <= p->count; t += CONV_TILES)
        conv_block(y, x, w, bias, p, in, t, CONV_TILES, outs);
    if (t < p->count)
        conv_block(y, x, w, bias, p, in, t, 1, outs);
}

static void conv_forward(float *y, const float *x, const float *w, const float *bias,
                         const sotto_conv *c, size_t rows)
{
    conv_plan p;

    conv_prepare(&p, c);
    for (size_t r = 0; r < rows; r++) {
        const float *image = x + r * c->in * p.in_plane;
        float *out = y + r * c->out * p.out_plane;
        size_t o = 0;

        while (o < c->out) {
            float *at = out + o * p.out_plane;
            const float *weights = w + o * c->in * SOTTO_CONV_TAPS;
            const size_t left = c->out - o;

            if (left == 6) {
                conv_outs(at, image, weights, bias + o, &p, c->in, 6);
                o += 6;
            } else if (left >= 4) {
                conv_outs(at, image, weights, bias + o, &p, c->in, 4);
                o += 4;
            } else {
                conv_outs(at, image, weights, bias + o, &p, c->in, 1);
                o += 1;
            }
        }
    }
}

/* One pair of input channel and row of the kernel, for one or two output channels: sums over all images and places. */
INLINE void conv_weights_row(float *dw, const float *dy, const float *x, const sotto_conv *c,
                             const conv_plan *p, size_t rows, const size_t outs)
{
    v8 sum[2][SOTTO_CONV_SIZE];

    for (size_t o = 0; o < outs; o++)
        for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
            sum[o][k] = v_all(0);
    for (size_t r = 0; r < rows; r++) {
        const float *image = x + r * c->in * p->in_plane;
        const float *out = dy + r * c->out * p->out_plane;

        for (size_t t = 0; t < p->count; t++) {
            const tile *at = &p->tiles[t];
            v8 error[2];

            for (size_t o = 0; o < outs; o++)
                error[o] = load_some(out + o * p->out_plane + at->out, at->lanes);
            for (size_t k = 0; k < SOTTO_CONV_SIZE; k++) {
                const v8 input = v_load(image + at->in + k);

                for (size_t o = 0; o < outs; o++)
                    sum[o][k] = v_fma(error[o], input, sum[o][k]);
            }
        }
    }
    for (size_t o = 0; o < outs; o++)
        for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
            dw[o * c->in * SOTTO_CONV_TAPS + k] += v_sum(sum[o][k]);
}

static void conv_weights(float *dw, float *dbias, const float *dy, const float *x,
                         const sotto_conv *c, size_t rows)
{
    conv_plan p;

    conv_prepare(&p, c);
    for (size_t o = 0; o < c->out; o += 2)
        for (size_t k = 0; k < c->in * SOTTO_CONV_SIZE; k++) {
            float *at = dw + o * c->in * SOTTO_CONV_TAPS + k * SOTTO_CONV_SIZE;
            const float *error = dy + o * p.out_plane;
            const float *input =
                x + k / SOTTO_CONV_SIZE * p.in_plane + k % SOTTO_CONV_SIZE * c->width;

            if (o + 2 <= c->out)
                conv_weights_row(at, error, input, c, &p, rows, 2);
            else
                conv_weights_row(at, error, input, c, &p, rows, 1);
        }
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < c->out; o++) {
            const float *error = dy + (r * c->out + o) * p.out_plane;
            v8 sum = v_all(0);
            size_t i = 0;

            for (; i + SOTTO_KERNEL_LANES <= p.out_plane; i += SOTTO_KERNEL_LANES)
                sum = v_add(sum, v_load(error + i));
            dbias[o] += v_sum(v_add(sum, v_load_part(error + i, p.out_plane - i)));
        }
}

enum { BACK_ROWS = 8 };

/* Rows of the output, and one column of the kernel, back to the input: each row of errors goes to five rows there. */
INLINE void conv_input_block(float *dx, const float *dy, const float *w, const sotto_conv *c,
                             const conv_plan *p, size_t lanes, const size_t block_rows)
{
    v8 sum[BACK_ROWS + SOTTO_CONV_SIZE - 1];
    const size_t out_step = c->in * SOTTO_CONV_TAPS;

    for (size_t y = 0; y < block_rows + SOTTO_CONV_SIZE - 1; y++)
        sum[y] = v_all(0);
    for (size_t o = 0; o < c->out; o++) {
        for (size_t r = 0; r < block_rows; r++) {
            const v8 error = load_some(dy + r * p->out_width, lanes);

            for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
                sum[r + k] = v_fma(v_all(w[k * SOTTO_CONV_SIZE]), error, sum[r + k]);
        }
        dy += p->out_plane;
        w += out_step;
    }
    for (size_t y = 0; y < block_rows + SOTTO_CONV_SIZE - 1; y++) {
        float *at = dx + y * p->width;

        store_some(at, lanes, v_add(load_some(at, lanes), sum[y]));
    }
}

/* One column of the kernel and one input channel. */
INLINE void conv_input_column(float *dx, const float *dy, const float *w, const sotto_conv *c,
                              const conv_plan *p)
{
    for (size_t at = 0; at < p->out_width; at += SOTTO_KERNEL_LANES) {
        const size_t left = p->out_width - at;
        size_t row = 0;

        for (; row + BACK_ROWS <= p->rows; row += BACK_ROWS) {
            float *to = dx + row * p->width + at;
            const float *from = dy + row * p->out_width + at;

            if (left >= SOTTO_KERNEL_LANES)
                conv_input_block(to, from, w, c, p, SOTTO_KERNEL_LANES, BACK_ROWS);
            else
                conv_input_block(to, from, w, c, p, left, BACK_ROWS);
        }
        for (; row < p->rows; row++)
            conv_input_block(dx + row * p->width + at, dy + row * p->out_width + at, w, c, p,
                             left < SOTTO_KERNEL_LANES ? left : (size_t)SOTTO_KERNEL_LANES, 1);
    }
}

static void conv_input(float *dx, const float *dy, const float *w, const sotto_conv *c, size_t rows)
{
    conv_plan p;

    conv_prepare(&p, c);
    memset(dx, 0, rows * c->in * p.in_plane * sizeof *dx);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
            for (size_t channel = 0; channel < c->in; channel++)
                conv_input_column(dx + (r * c->in + channel) * p.in_plane + k,
                                  dy + r * c->out * p.out_plane, w + channel * SOTTO_CONV_TAPS + k,
                                  c, &p);
}

/* ---- pooling ------------------------------------------------------------------------------------------------- */

/* Two rows of up to 16 columns, as the four places of up to 8 squares. */
typedef struct squares {
    v8 at[4];
} squares;

INLINE squares load_squares(const float *x, size_t width, size_t columns)
{
    const size_t more = columns > SOTTO_KERNEL_LANES ? columns - SOTTO_KERNEL_LANES : 0;
    squares s;

    for (size_t row = 0; row < 2; row++) {
        const v8 a = load_some(x + row * width, columns);
        const v8 b = more ? load_some(x + row * width + SOTTO_KERNEL_LANES, more) : v_all(0);

        s.at[2 * row] = v_even(a, b);
        s.at[2 * row + 1] = v_odd(a, b);
    }
    return s;
}

static void pool_forward(float *y, const float *x, size_t planes, size_t height, size_t width)
{
    for (size_t pair = 0; pair < planes * (height / 2); pair++) {
        for (size_t at = 0; at < width; at += (size_t)2 * SOTTO_KERNEL_LANES) {
            const size_t columns = width - at;
            const squares s = load_squares(x + at, width, columns);
            const v8 most = v_max(v_max(s.at[0], s.at[1]), v_max(s.at[2], s.at[3]));
            const size_t outs = columns / 2;

            store_some(y + at / 2, outs, v_max(most, v_all(0)));
        }
        x += 2 * width;
        y += width / 2;
    }
}

static void pool_input(float *dx, const float *dy, const float *x, const float *y, size_t planes,
                       size_t height, size_t width)
{
    for (size_t pair = 0; pair < planes * (height / 2); pair++) {
        for (size_t at = 0; at < width; at += (size_t)2 * SOTTO_KERNEL_LANES) {
            const size_t columns = width - at, outs = columns / 2;
            const squares s = load_squares(x + at, width, columns);
            const v8 most = load_some(y + at / 2, outs);
            const v8 error = load_some(dy + at / 2, outs);
            m8 open = m_above(most, v_all(0));
            v8 back[4];

            for (size_t i = 0; i < 4; i++) {
                const m8 takes = m_and(open, m_equal(s.at[i], most));

                back[i] = v_where(takes, error);
                open = m_without(takes, open);
            }
            for (size_t row = 0; row < 2; row++) {
                float *to = dx + row * width + at;

                store_some(to, columns, v_zip_low(back[2 * row], back[2 * row + 1]));
                if (columns > SOTTO_KERNEL_LANES)
                    store_some(to + SOTTO_KERNEL_LANES, columns - SOTTO_KERNEL_LANES,
                               v_zip_high(back[2 * row], back[2 * row + 1]));
            }
        }
        x += 2 * width;
        dx += 2 * width;
        y += width / 2;
        dy += width / 2;
    }
}

/* ---- element by element -------------------------------------------------------------------------------------- */

/* 2^k e^r with |r| at most half of log 2, whose series is cut after r^7. */
static void exponentials(float *x, size_t count)
{
    const float to_integer =
        12582912.0F; /* 1.5 times 2^23: what is added to it loses its fraction */

    for (size_t i = 0; i < count; i++) {
        float v = x[i] > -87.0F ? x[i] : -87.0F;

        v = v < 88.0F ? v : 88.0F;
        const float shifted = v * 1.44269504F + to_integer;
        const float k = shifted - to_integer;
        const float r = (v - k * 0.693359375F) + k * 2.12194440e-4F;
        float p = 1.0F / 5040;
        int32_t bits;

        p = p * r + 1.0F / 720;
        p = p * r + 1.0F / 120;
        p = p * r + 1.0F / 24;
        p = p * r + 1.0F / 6;
        p = p * r + 0.5F;
        p = p * r + 1.0F;
        p = p * r + 1.0F;
        bits = ((int32_t)k + 127) * (1 << 23);
        memcpy(&v, &bits, sizeof v);
        x[i] = p * v;
    }
}

static double descend(float *w, const float *start, const float *gradient, float rate, size_t count)
{
    double sum[SOTTO_KERNEL_LANES] = {0};
    size_t at = 0;

    for (; at + SOTTO_KERNEL_LANES <= count; at += SOTTO_KERNEL_LANES)
        for (size_t i = 0; i < SOTTO_KERNEL_LANES; i++) {
            w[at + i] -= rate * gradient[at + i];
            const double far = (double)w[at + i] - (double)start[at + i];

            sum[i] += far * far;
        }
    for (size_t i = 0; i < count - at; i++) {
        w[at + i] -= rate * gradient[at + i];
        const double far = (double)w[at + i] - (double)start[at + i];

        sum[i] += far * far;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

const sotto_kernels KERNELS = {
    KERNELS_NAME, dense_forward, dense_input, dense_weights, conv_forward, conv_input,
    conv_weights, pool_forward,  pool_input,  exponentials,  descend,
};

/* A 16550 UART without interrupts, and the console behind it: programs poll the line status, write
 * THR and read RBR. The transmitter is always ready. Byte accesses, as the chip has them. */
#include "xphmg/machine.h"

enum { RBR_THR, IER, IIR_FCR, LCR, MCR, LSR, MSR, SCR };
enum { LSR_DATA_READY = 0x01, LSR_THR_EMPTY = 0x20, LSR_IDLE = 0x40, LCR_DLAB = 0x80 };
enum { IIR_NONE = 0x01, IIR_FIFO = 0xC0, MSR_READY = 0xB0 };

void facet_xphmg_output(struct facet_xphmg *m,
                        enum facet_xphmg_stream stream,
                        const void *data,
                        size_t size)
{
    if (m->host.output != NULL && size > 0) {
        m->host.output(m->host.context, stream, data, size);
    }
}

bool facet_xphmg_input_ready(struct facet_xphmg *m, bool *wait)
{
    bool ready = m->console.read < m->console.size;

    m->console.starved = !ready && !m->console.ended;
    *wait = m->console.starved && !m->poll_input;
    return ready;
}

bool facet_xphmg_uart_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    struct facet_xphmg *m = context;
    bool wait; /* transmitters look at LSR too: this device never waits */

    if (size != 1) {
        return false;
    }
    *value = 0;
    switch (offset) {
    case RBR_THR:
        if ((m->uart.lcr & LCR_DLAB) != 0) {
            *value = m->uart.dll;
        } else if (facet_xphmg_input_ready(m, &wait)) {
            *value = m->console.bytes[m->console.read++];
        }
        break;
    case IER:
        *value = (m->uart.lcr & LCR_DLAB) != 0 ? m->uart.dlm : m->uart.ier;
        break;
    case IIR_FCR:
        *value = IIR_NONE | ((m->uart.fcr & 1) != 0 ? IIR_FIFO : 0);
        break;
    case LCR:
        *value = m->uart.lcr;
        break;
    case MCR:
        *value = m->uart.mcr;
        break;
    case LSR:
        *value =
            LSR_THR_EMPTY | LSR_IDLE | (facet_xphmg_input_ready(m, &wait) ? LSR_DATA_READY : 0);
        break;
    case MSR:
        *value = MSR_READY;
        break;
    case SCR:
        *value = m->uart.scr;
        break;
    default:
        break;
    }
    return true;
}

bool facet_xphmg_uart_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    struct facet_xphmg *m = context;
    uint8_t byte = (uint8_t)value;
    bool divisor = (m->uart.lcr & LCR_DLAB) != 0;

    if (size != 1) {
        return false;
    }
    switch (offset) {
    case RBR_THR:
        if (divisor) {
            m->uart.dll = byte;
        } else {
            facet_xphmg_output(m, FACET_XPHMG_OUT, &byte, 1);
        }
        break;
    case IER:
        *(divisor ? &m->uart.dlm : &m->uart.ier) = divisor ? byte : byte & 0x0F;
        break;
    case IIR_FCR:
        m->uart.fcr = byte;
        break;
    case LCR:
        m->uart.lcr = byte;
        break;
    case MCR:
        m->uart.mcr = byte & 0x1F;
        break;
    case SCR:
        m->uart.scr = byte;
        break;
    default:
        break;
    }
    return true;
}

"""Questions that many ask one server, which answers each after a while."""

from amaranth.hdl import Module, ResetSignal, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.merging_tree import MergingTree


def service(question, answer) -> wiring.Signature:
    """What a client of a server has: it asks, and is answered in the order in which it asked.

    A client asks only for what it has room for: answers cannot be held back.
    """
    answers = wiring.Signature({"valid": Out(1), "p": Out(answer)})
    return wiring.Signature({"ask": Out(stream.Signature(question)), "answer": In(answers)})


def tagged(shape, clients: int) -> data.StructLayout:
    """A question or an answer, and whose it is."""
    return data.StructLayout({"what": shape, "client": max(1, ceil_log2(clients))})


class RequestArbiter(Part):
    """Lets several clients share one server.

    Questions go through a tree of mergers, so that all clients have their turn; what goes to the server says who asks,
    and the server says it again with its answer, which reaches the client one cycle later.

    Parameters
    ----------
    question, answer
        Their shapes.
    clients
        How many.

    Members
    -------
    clients
        To the clients.
    server
        To the server: a service with tagged questions and answers, answered in order.
    """

    def __init__(self, question, answer, clients: int):
        self._question, self._answer, self._number = question, answer, clients
        super().__init__(
            {
                "clients": In(service(question, answer)).array(clients),
                "server": Out(service(tagged(question, clients), tagged(answer, clients))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.tree = tree = MergingTree(tagged(self._question, self._number), self._number, depth=2)
        connect(m, tree.o, flipped(self.server.ask))
        m.d.comb += tree.clear.eq(ResetSignal().replicate(len(tree.clear)))
        given = Signal(tagged(self._answer, self._number), reset_less=True)
        some = Signal()
        m.d.sync += [given.eq(self.server.answer.p), some.eq(self.server.answer.valid)]
        for n, client in enumerate(self.clients):
            leaf = tree.i[n]
            m.d.comb += [
                leaf.valid.eq(client.ask.valid),
                leaf.p.what.eq(client.ask.p),
                leaf.p.client.eq(n),
                client.ask.ready.eq(leaf.ready),
                client.answer.valid.eq(some & (given.client == n)),
                client.answer.p.eq(given.what),
            ]
        return m

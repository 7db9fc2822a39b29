"""Requests that many clients send to one server, and its responses: the port of each, and an arbiter between them."""

from amaranth.hdl import Module, ResetSignal, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.merging_tree import MergingTree


def request_response(request, response) -> wiring.Signature:
    """What a client of a server has: requests, and the responses to them in the same order.

    A client asks only for what it has room for: there is no back-pressure on responses.
    """
    responses = wiring.Signature({"valid": Out(1), "p": Out(response)})
    return wiring.Signature({"request": Out(stream.Signature(request)), "response": In(responses)})


def tagged(shape, clients: int) -> data.StructLayout:
    """A request or a response, and the number of its client."""
    return data.StructLayout({"what": shape, "client": max(1, ceil_log2(clients))})


class RequestArbiter(Part):
    """Lets several clients share one server.

    Requests go through a tree of mergers, so that all clients have their turn; what goes to the server has the number
    of its client, and so has the response, which reaches the client one cycle later.

    Parameters
    ----------
    request, response
        Their shapes.
    clients
        How many.

    Members
    -------
    clients
        To the clients.
    server
        To the server, which gives tagged responses to tagged requests, in order.
    """

    def __init__(self, request, response, clients: int):
        self._request, self._response, self._number = request, response, clients
        super().__init__(
            {
                "clients": In(request_response(request, response)).array(clients),
                "server": Out(request_response(tagged(request, clients), tagged(response, clients))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.tree = tree = MergingTree(tagged(self._request, self._number), self._number, depth=2)
        connect(m, tree.o, flipped(self.server.request))
        m.d.comb += tree.clear.eq(ResetSignal().replicate(len(tree.clear)))
        given = Signal(tagged(self._response, self._number), reset_less=True)
        some = Signal()
        m.d.sync += [given.eq(self.server.response.p), some.eq(self.server.response.valid)]
        for n, client in enumerate(self.clients):
            leaf = tree.i[n]
            m.d.comb += [
                leaf.valid.eq(client.request.valid),
                leaf.p.what.eq(client.request.p),
                leaf.p.client.eq(n),
                client.request.ready.eq(leaf.ready),
                client.response.valid.eq(some & (given.client == n)),
                client.response.p.eq(given.what),
            ]
        return m

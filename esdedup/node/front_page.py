"""The answer to `GET /`, with which clients begin.

Elasticsearch's own is in a module that Maven Central does not have.
"""

from __future__ import annotations

from typing import Any

_TAGLINE = "You Know, for Search"


def add_front_page(node: Any) -> None:
    """Let a node that is not started yet answer `GET /` and `HEAD /` as every other Elasticsearch does."""
    from jpype import JClass, JImplements, JOverride

    injector = node.injector()
    clusters = injector.getInstance(JClass("org.elasticsearch.cluster.service.ClusterService").class_)
    build = JClass("org.elasticsearch.Build").current()
    lucene = JClass("org.apache.lucene.util.Version").LATEST
    # the fields of `version` that clients know
    version = {
        "number": build.qualifiedVersion(),
        "build_flavor": build.flavor(),
        "build_type": build.type().displayName(),
        "build_hash": build.hash(),
        "build_date": build.date(),
        "build_snapshot": bool(build.isSnapshot()),
        "lucene_version": lucene.toString(),
        "minimum_wire_compatibility_version": build.minWireCompatVersion(),
        "minimum_index_compatibility_version": build.minIndexCompatVersion(),
    }
    answer = JClass("org.elasticsearch.rest.RestResponse")
    fine = JClass("org.elasticsearch.rest.RestStatus").OK

    @JImplements("org.elasticsearch.rest.RestHandler")
    class FrontPage:
        @JOverride  # type: ignore[untyped-decorator]
        def handleRequest(self, request: Any, channel: Any, client: Any) -> None:  # noqa: N802 (Java's name)
            state = clusters.state()
            builder = channel.newBuilder().prettyPrint().startObject()
            builder.field("name", clusters.localNode().getName())
            builder.field("cluster_name", state.getClusterName().value())
            builder.field("cluster_uuid", state.metadata().clusterUUID())
            builder.startObject("version")
            for name, value in version.items():
                builder.field(name, value)
            builder.endObject().field("tagline", _TAGLINE).endObject()
            channel.sendResponse(answer(fine, builder))

    method = JClass("org.elasticsearch.rest.RestRequest$Method")
    route = JClass("org.elasticsearch.rest.RestHandler$Route")
    page, controller = FrontPage(), _controller(injector)
    for verb in (method.GET, method.HEAD):
        controller.registerHandler(route(verb, "/"), page)


def _controller(injector: Any) -> Any:
    """Return what knows all addresses of the HTTP interface. Only that interface refers to it."""
    from jpype import JClass

    interface = injector.getInstance(JClass("org.elasticsearch.http.HttpServerTransport").class_)
    kept = JClass("org.elasticsearch.http.AbstractHttpServerTransport").class_.getDeclaredField("dispatcher")
    kept.setAccessible(True)
    return kept.get(interface)

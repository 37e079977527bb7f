import JSON
import Telemetry
import TestKit
import Testing

@testable import Worker

/// The protocol's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). It has names in lower camel
/// case, hexadecimal IDs, 64-bit numbers as text, and enumerations as numbers.
@Suite struct OTLPDocumentTests {
    private static let document = OTLPDocument(serviceName: "push \"1\"", worker: "host.42", version: "1.2.3")

    @Test func aSpanWithAllMembers() {
        let context = TraceContext(
            traceIDHigh: 0x4bf9_2f35_77b3_4da6, traceIDLow: 0xa3ce_929d_0e0e_4736, spanID: 0xf0, isSampled: true)
        var span = Span("process push.requests", .consumer, in: context, below: 0xf067_aa0b_a902_b7, from: 5, to: 9)
        span.set("martlet.app", "com.example.app")
        span.set("martlet.app", nil as String?)
        span.set("martlet.attempts", 2)
        span.failure = "apns.BadDeviceToken"
        let text = String(decoding: Self.document.json([span]), as: UTF8.self)
        let expected = """
            {"resourceSpans":[{
              "resource":{"attributes":[
                {"key":"service.name","value":{"stringValue":"push \\"1\\""}},
                {"key":"service.version","value":{"stringValue":"1.2.3"}},
                {"key":"service.instance.id","value":{"stringValue":"host.42"}}]},
              "scopeSpans":[{
                "scope":{"name":"martlet"},
                "spans":[{
                  "traceId":"4bf92f3577b34da6a3ce929d0e0e4736",
                  "spanId":"00000000000000f0",
                  "parentSpanId":"00f067aa0ba902b7",
                  "name":"process push.requests",
                  "kind":5,
                  "startTimeUnixNano":"5",
                  "endTimeUnixNano":"9",
                  "attributes":[
                    {"key":"martlet.app","value":{"stringValue":"com.example.app"}},
                    {"key":"martlet.attempts","value":{"intValue":"2"}}],
                  "status":{"code":2,"message":"apns.BadDeviceToken"}}]}]}]}
            """
        #expect(text == expected.split(separator: "\n").map { $0.drop { $0 == " " } }.joined())
    }

    @Test func severalSpansWithoutAttributes() throws {
        let context = TraceContext(traceIDHigh: 0, traceIDLow: 1, spanID: 2, isSampled: true)
        let spans = (0..<3).map { Span("\($0)", .client, in: context, below: 1, from: 0, to: 0) }
        let written = try JSONDocument(Self.document.json(spans)).spans
        #expect(written.map { $0["name"]?.string } == ["0", "1", "2"])
        #expect(written.allSatisfy { $0["kind"]?.int == 3 && $0["status"] == nil })
    }
}

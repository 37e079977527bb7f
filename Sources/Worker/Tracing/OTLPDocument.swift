import JSON
import Telemetry

/// Spans in the OpenTelemetry protocol's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding):
/// hexadecimal IDs, 64-bit numbers as text.
struct OTLPDocument {
    let serviceName: String
    let worker: String
    let version: String

    func json(_ spans: [Span]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.beginArray("resourceSpans")
        json.beginObject()
        json.beginObject("resource")
        write(
            [
                .init(key: "service.name", value: .text(serviceName)),
                .init(key: "service.version", value: .text(version)),
                .init(key: "service.instance.id", value: .text(worker)),
            ], to: &json)
        json.endObject()
        json.beginArray("scopeSpans")
        json.beginObject()
        json.beginObject("scope")
        json.member("name", "martlet")
        json.endObject()
        json.beginArray("spans")
        for span in spans { write(span, to: &json) }
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private func write(_ span: Span, to json: inout JSONWriter) {
        json.beginObject()
        json.member("traceId", span.context.traceID)
        json.member("spanId", TraceContext.hex(span.context.spanID))
        json.member("parentSpanId", TraceContext.hex(span.parentSpanID))
        json.member("name", span.name)
        json.member("kind", span.kind.rawValue)
        json.member("startTimeUnixNano", "\(span.startUnixNanoseconds)")
        json.member("endTimeUnixNano", "\(span.endUnixNanoseconds)")
        write(span.attributes, to: &json)
        if let failure = span.failure {
            json.beginObject("status")
            json.member("code", 2)
            json.member("message", failure)
            json.endObject()
        }
        json.endObject()
    }

    private func write(_ attributes: [Span.Attribute], to json: inout JSONWriter) {
        json.beginArray("attributes")
        for attribute in attributes {
            json.beginObject()
            json.member("key", attribute.key)
            json.beginObject("value")
            switch attribute.value {
            case .text(let text): json.member("stringValue", text)
            case .integer(let number): json.member("intValue", "\(number)")
            }
            json.endObject()
            json.endObject()
        }
        json.endArray()
    }
}

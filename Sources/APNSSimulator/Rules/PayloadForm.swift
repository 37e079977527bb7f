import JSON

/// Checks of payloads, with one reused parser.
struct PayloadForm {
    private let parser = JSONParser(limits: JSONLimits(bytesMax: Request.bodyBytesKeptMax, depthMax: 1024))

    /// Returns the error of a request's body; nil if the body is an uncompressed JSON object.
    func fault(of request: Request) -> RefusalDetail? {
        if request[.contentEncoding] != nil { return .payloadCompressed }
        return isJSONObject(request.bodyBytes) ? nil : .payloadForm
    }

    func isJSONObject(_ body: UnsafeRawBufferPointer) -> Bool {
        do throws(JSONError) {
            return try parser.parse(body).kind == .object
        } catch {
            // Duplicate keys are not known to be an error for APNs. Lenient parsers use the last value.
            return error.code == .duplicateKey
        }
    }

    /// Returns whether the payload has an alert, a badge or a sound.
    func isVisible(_ body: UnsafeRawBufferPointer) -> Bool {
        guard let aps = try? parser.parse(body)["aps"] else { return false }
        return aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
    }
}

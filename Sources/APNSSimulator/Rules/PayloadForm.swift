import JSON

/// Whether bodies are JSON objects, with one parser's memory for all of them.
struct PayloadForm {
    private let parser = JSONParser(limits: JSONLimits(bytesMax: Request.bodyBytesKeptMax, depthMax: 1024))

    /// What is wrong with a request's body; nil when it is a plain JSON object.
    func fault(of request: Request) -> RefusalDetail? {
        if request[.contentEncoding] != nil { return .payloadCompressed }
        return isJSONObject(request.bodyBytes) ? nil : .payloadForm
    }

    func isJSONObject(_ body: UnsafeRawBufferPointer) -> Bool {
        do throws(JSONError) {
            return try parser.parse(body).kind == .object
        } catch {
            // Stricter than what is known of APNs: lax readers take the last of equal keys.
            return error.code == .duplicateKey
        }
    }

    /// Whether there is something in it for somebody to see or hear.
    func isVisible(_ body: UnsafeRawBufferPointer) -> Bool {
        guard let aps = try? parser.parse(body)["aps"] else { return false }
        return aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
    }
}

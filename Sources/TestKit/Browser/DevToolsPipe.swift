import JSON

/// A headless Chromium and its DevTools protocol over a pipe: JSON texts, each ended by a zero byte.
final class DevToolsPipe {
    /// A picture of a page is the largest.
    private static let limits = JSONLimits(bytesMax: 64 << 20)

    let process: ChildProcess
    /// What the browser told of its own accord, until now.
    private(set) var events: [JSONDocument] = []
    private var calls: Int64 = 0

    /// - Parameter directory: for its profile, and all else that it would leave in the home of whoever runs it.
    /// - Throws: `ProcessError` when there is none.
    init(in directory: TemporaryDirectory) async throws(ProcessError) {
        // It takes commands at descriptor 3 and answers at 4. What it says elsewhere is noise.
        let redirect = #"exec chromium "$@" 3<&0 4>&1 < /dev/null > /dev/null 2>&1"#
        let arguments = [
            // The sandbox wants rights that a container does not have; the pages are our own.
            "--headless", "--no-sandbox", "--remote-debugging-pipe", "--user-data-dir=\(directory.path)",
            "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad",
            "--disable-component-update", "--no-proxy-server", "about:blank",
        ]
        process = try await ChildProcess(
            ["sh", "-c", redirect, "chromium"] + arguments,
            environment: [
                "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
                "LANG": "C.UTF-8", "TZ": "UTC",
            ], input: .pipe, lineEnd: 0)
    }

    /// Calls a method and waits for its result.
    ///
    /// - Parameter session: the page that it is for; nil for the browser.
    /// - Throws: `ProcessError` when it fails or is not answered in time.
    func call(
        _ method: String, session: String? = nil, _ parameters: (inout JSONWriter) -> Void = { _ in }
    ) async throws(ProcessError) -> JSONDocument {
        calls += 1
        let id = calls
        var json = JSONWriter()
        json.beginObject()
        json.member("id", id)
        json.member("method", method)
        if let session { json.member("sessionId", session) }
        json.beginObject("params")
        parameters(&json)
        json.endObject()
        json.endObject()
        try process.write(line: String(decoding: json.bytes, as: UTF8.self))
        while true {
            let message = try await next()
            guard message.root["id"]?.int64 == id else {
                events.append(message)
                continue
            }
            if let error = message.root["error"] { throw ProcessError("\(method): \(error["message"]?.string ?? "?")") }
            return message
        }
    }

    /// Waits for an event.
    ///
    /// - Throws: `ProcessError` when there is none in time.
    func event(_ method: String) async throws(ProcessError) -> JSONDocument {
        while true {
            let message = try await next()
            events.append(message)
            if message.root["method"]?.string == method { return message }
        }
    }

    private func next() async throws(ProcessError) -> JSONDocument {
        let line = try await process.output.line()
        guard let message = try? JSONDocument(line, limits: Self.limits) else {
            throw ProcessError("chromium wrote what is no JSON: \(line.prefix(200))")
        }
        return message
    }
}

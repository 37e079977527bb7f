import JSON

/// A headless Chromium that is controlled by the DevTools protocol over pipes.
///
/// A zero byte terminates each JSON message.
final class DevToolsPipe {
    /// The limits of a message. Screenshots are the largest messages.
    private static let limits = JSONLimits(bytesMax: 64 << 20)

    let process: ChildProcess
    /// The events received so far.
    private(set) var events: [JSONDocument] = []
    private var calls: Int64 = 0

    /// Starts Chromium.
    ///
    /// - Parameter directory: The folder for the profile, also used as the home folder.
    /// - Throws: `ProcessError` if no process can be started. If Chromium is missing, the first call fails.
    init(in directory: TemporaryDirectory) async throws(ProcessError) {
        // Chromium reads commands from descriptor 3 and writes responses to 4. Its other output is irrelevant.
        let redirect = #"exec chromium "$@" 3<&0 4>&1 < /dev/null > /dev/null 2>&1"#
        let arguments = [
            // Containers lack the privileges for the sandbox. The test pages are trusted.
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
    /// - Parameter session: The session of the page; nil for the browser.
    /// - Throws: `ProcessError` if the call fails or gets no response in time.
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

    /// Waits for the next event of a method. Earlier events do not count.
    ///
    /// - Throws: `ProcessError` if the event does not arrive in time.
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
            throw ProcessError("Chromium sent invalid JSON: \(line.prefix(200))")
        }
        return message
    }
}

import Crypto
import Glibc
import JSON

/// A headless Chromium with one page. Its calls are made one after the other.
///
/// Nothing here sleeps: what a page does in its own time is awaited in the page, with a deadline.
public actor Browser {
    public enum Scheme: String, Sendable, CaseIterable {
        case light, dark
    }

    public enum Key: Sendable {
        case tab, enter, space, escape, left, right

        var fields: (name: String, code: Int, text: String?) {
            switch self {
            case .tab: ("Tab", 9, nil)
            case .enter: ("Enter", 13, "\r")
            case .space: (" ", 32, " ")
            case .escape: ("Escape", 27, nil)
            case .left: ("ArrowLeft", 37, nil)
            case .right: ("ArrowRight", 39, nil)
            }
        }
    }

    private let pipe: DevToolsPipe
    private let session: String
    private let directory: TemporaryDirectory

    /// - Throws: `ProcessError` when it does not start.
    public init() async throws(ProcessError) {
        directory = try TemporaryDirectory("chromium")
        let pipe = try await DevToolsPipe(in: directory)
        let target = try await pipe.call("Target.createTarget") { $0.member("url", "about:blank") }
        let targetID = try target.result("targetId")
        let attached = try await pipe.call("Target.attachToTarget") {
            $0.member("targetId", targetID)
            $0.member("flatten", true)
        }
        session = try attached.result("sessionId")
        for domain in ["Page", "Runtime", "Log", "Network"] {
            _ = try await pipe.call("\(domain).enable", session: session)
        }
        self.pipe = pipe
    }

    /// The addresses that the page has asked for by now, in order.
    public func requestedURLs() async throws(ProcessError) -> [String] {
        try await catchUp()
        return events("Network.requestWillBeSent").compactMap { $0["request"]?["url"]?.string }
    }

    /// The errors and warnings that the page's console has by now, and the exceptions that nothing caught.
    public func consoleMessages() async throws(ProcessError) -> [String] {
        try await catchUp()
        let calls = events("Runtime.consoleAPICalled").filter {
            ["error", "warning", "assert"].contains($0["type"]?.string ?? "")
        }
        let entries = events("Log.entryAdded").compactMap { $0["entry"] }.filter {
            ["error", "warning"].contains($0["level"]?.string ?? "")
        }
        return (calls + entries + events("Runtime.exceptionThrown")).map {
            String(decoding: $0.sourceBytes, as: UTF8.self)
        }
    }

    /// Loads a page and waits until it is there with all that it is made of.
    public func open(_ url: String) async throws(ProcessError) {
        let loaded = try await call("Page.navigate") { $0.member("url", url) }
        if let failure = loaded.root["result"]?["errorText"]?.string { throw ProcessError("\(url): \(failure)") }
        _ = try await pipe.event("Page.loadEventFired")
    }

    /// Makes the window so large; a phone's has touch and a viewport of its own.
    public func resize(width: Int, height: Int, isPhone: Bool = false) async throws(ProcessError) {
        _ = try await call("Emulation.setDeviceMetricsOverride") {
            $0.member("width", width)
            $0.member("height", height)
            $0.member("deviceScaleFactor", isPhone ? 2 : 1)
            $0.member("mobile", isPhone)
        }
    }

    /// As the person prefers it.
    public func prefer(_ scheme: Scheme) async throws(ProcessError) {
        _ = try await call("Emulation.setEmulatedMedia") {
            $0.key("features")
            $0.beginArray()
            $0.beginObject()
            $0.member("name", "prefers-color-scheme")
            $0.member("value", scheme.rawValue)
            $0.endObject()
            $0.endArray()
        }
    }

    /// Runs a JavaScript expression for what it does.
    ///
    /// - Throws: `ProcessError` with the exception that it ended in.
    public func run(_ expression: String) async throws(ProcessError) {
        _ = try await value("(\(expression), 0)")
    }

    /// Chooses a file in a field, as a person would in its dialog.
    public func choose(file: String, in selector: String) async throws(ProcessError) {
        let found = try await call("Runtime.evaluate") {
            $0.member("expression", "document.querySelector(`\(selector)`)")
        }
        guard let object = found.root["result"]?["result"]?["objectId"]?.string else {
            throw ProcessError("there is no \(selector)")
        }
        _ = try await call("DOM.setFileInputFiles") {
            $0.member("objectId", object)
            $0.beginArray("files")
            $0.string(file)
            $0.endArray()
        }
    }

    /// The value of a JavaScript expression that is true or false.
    public func holds(_ expression: String) async throws(ProcessError) -> Bool {
        guard let value = try await value(expression).root.bool else {
            throw ProcessError("\(expression) is neither true nor false")
        }
        return value
    }

    /// The value of a JavaScript expression that is a whole number.
    public func number(_ expression: String) async throws(ProcessError) -> Int {
        guard let number = try await value(expression).root.int else {
            throw ProcessError("\(expression) is no whole number")
        }
        return number
    }

    /// The value of a JavaScript expression as JSON; a promise is waited for.
    ///
    /// - Throws: `ProcessError` with the exception that it ended in.
    func value(_ expression: String) async throws(ProcessError) -> JSONDocument {
        let answer = try await call("Runtime.evaluate") {
            $0.member("expression", expression)
            $0.member("returnByValue", true)
            $0.member("awaitPromise", true)
        }
        let result = answer.root["result"]
        if let exception = result?["exceptionDetails"] {
            let words = exception["exception"]?["description"]?.string ?? exception["text"]?.string ?? "?"
            throw ProcessError("\(expression): \(words)")
        }
        guard let value = result?["result"]?["value"], let json = try? JSONDocument(value.sourceBytes) else {
            throw ProcessError("\(expression) has no value")
        }
        return json
    }

    /// The value of a JavaScript expression that is a text.
    public func text(_ expression: String) async throws(ProcessError) -> String {
        guard let text = try await value(expression).root.string else { throw ProcessError("\(expression) is no text") }
        return text
    }

    /// Waits until a JavaScript expression is true of the page, looked at again whenever the page has changed.
    ///
    /// - Throws: `ProcessError` with the page's text when it is not in time.
    public func wait(until condition: String, within: Duration = TestTimeout.duration) async throws(ProcessError) {
        let promise = """
            new Promise((resolve) => {
              const observer = new MutationObserver(look);
              const deadline = setTimeout(() => end(false), \(within.wholeMilliseconds));
              function end(holds) { observer.disconnect(); clearTimeout(deadline); resolve(holds); }
              function look() { if (\(condition)) end(true); }
              observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
              look();
            })
            """
        guard try await value(promise).root.bool == true else {
            throw ProcessError("not within \(within): \(condition); the page says: \(try await text(Self.pageText))")
        }
    }

    private static let pageText = "document.body.innerText"

    /// Presses a key and lets it go.
    public func press(_ key: Key) async throws(ProcessError) {
        for isDown in [true, false] {
            _ = try await call("Input.dispatchKeyEvent") {
                $0.member("type", isDown ? "keyDown" : "keyUp")
                $0.member("key", key.fields.name)
                $0.member("windowsVirtualKeyCode", key.fields.code)
                if isDown, let text = key.fields.text { $0.member("text", text) }
            }
        }
    }

    /// Types a text where the focus is.
    public func type(_ text: String) async throws(ProcessError) {
        _ = try await call("Input.insertText") { $0.member("text", text) }
    }

    /// Writes a picture of what is to be seen, as PNG.
    public func writePicture(to path: String) async throws(ProcessError) {
        let answer = try await call("Page.captureScreenshot") { $0.member("format", "png") }
        let text = try answer.result("data")
        let urlText = String(text.map { ["+": "-", "/": "_"][$0] ?? $0 }.prefix { $0 != "=" })
        guard let bytes = Base64URL.decode(urlText), let file = fopen(path, "w") else {
            throw ProcessError("no picture can be written to \(path)")
        }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    /// Ends the browser, which deletes all that it wrote.
    public func close() async throws(ProcessError) {
        _ = try await pipe.call("Browser.close")
        _ = try await pipe.process.exit()
    }

    private func call(
        _ method: String, _ parameters: (inout JSONWriter) -> Void = { _ in }
    ) async throws(ProcessError) -> JSONDocument {
        try await pipe.call(method, session: session, parameters)
    }

    /// What happened before a call is told before its answer.
    private func catchUp() async throws(ProcessError) {
        _ = try await value("0")
    }

    private func events(_ method: String) -> [JSONValue] {
        pipe.events.filter { $0.root["method"]?.string == method }.compactMap { $0.root["params"] }
    }
}

extension JSONDocument {
    /// A text of a call's result.
    fileprivate func result(_ key: String) throws(ProcessError) -> String {
        guard let text = root["result"]?[key: key]?.string else { throw ProcessError("chromium told no \(key)") }
        return text
    }
}

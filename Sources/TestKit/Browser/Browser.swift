import Crypto
import Glibc
import JSON

/// A headless Chromium with one page. Make one call at a time.
///
/// The methods never sleep. They wait for asynchronous changes inside the page, with a deadline.
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

    /// Starts Chromium.
    ///
    /// - Throws: `ProcessError` if Chromium does not start.
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

    /// Returns the URLs that the page has requested so far, in order.
    public func requestedURLs() async throws(ProcessError) -> [String] {
        try await receivePendingEvents()
        return events("Network.requestWillBeSent").compactMap { $0["request"]?["url"]?.string }
    }

    /// Returns the errors, warnings and failed assertions in the page's console so far, and the uncaught exceptions.
    public func consoleMessages() async throws(ProcessError) -> [String] {
        try await receivePendingEvents()
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

    /// Loads a page and waits for its load event.
    public func open(_ url: String) async throws(ProcessError) {
        let loaded = try await call("Page.navigate") { $0.member("url", url) }
        if let failure = loaded.root["result"]?["errorText"]?.string { throw ProcessError("\(url): \(failure)") }
        _ = try await pipe.event("Page.loadEventFired")
    }

    /// Sets the size of the viewport in CSS pixels.
    ///
    /// `isPhone` selects a mobile viewport with a device scale factor of 2.
    public func resize(width: Int, height: Int, isPhone: Bool = false) async throws(ProcessError) {
        _ = try await call("Emulation.setDeviceMetricsOverride") {
            $0.member("width", width)
            $0.member("height", height)
            $0.member("deviceScaleFactor", isPhone ? 2 : 1)
            $0.member("mobile", isPhone)
        }
    }

    /// Sets the preferred color scheme.
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

    /// Evaluates a JavaScript expression for its side effects.
    ///
    /// - Throws: `ProcessError` with the exception that the expression throws.
    public func run(_ expression: String) async throws(ProcessError) {
        _ = try await value("(\(expression), 0)")
    }

    /// Chooses a file in a file input.
    public func choose(file: String, in selector: String) async throws(ProcessError) {
        let found = try await call("Runtime.evaluate") {
            $0.member("expression", "document.querySelector(`\(selector)`)")
        }
        guard let object = found.root["result"]?["result"]?["objectId"]?.string else {
            throw ProcessError("no element matches \(selector)")
        }
        _ = try await call("DOM.setFileInputFiles") {
            $0.member("objectId", object)
            $0.beginArray("files")
            $0.string(file)
            $0.endArray()
        }
    }

    /// Returns the value of a Boolean JavaScript expression.
    public func holds(_ expression: String) async throws(ProcessError) -> Bool {
        guard let value = try await value(expression).root.bool else {
            throw ProcessError("\(expression) is not a Boolean")
        }
        return value
    }

    /// Returns the value of an integer JavaScript expression.
    public func number(_ expression: String) async throws(ProcessError) -> Int {
        guard let number = try await value(expression).root.int else {
            throw ProcessError("\(expression) is not an integer")
        }
        return number
    }

    /// Returns the value of a JavaScript expression as JSON. Awaits promises.
    ///
    /// - Throws: `ProcessError` with the exception that the expression throws.
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

    /// Returns the value of a JavaScript string expression.
    public func text(_ expression: String) async throws(ProcessError) -> String {
        guard let text = try await value(expression).root.string else {
            throw ProcessError("\(expression) is not a string")
        }
        return text
    }

    /// Waits until a JavaScript expression is true. Evaluates the expression immediately, and after each change
    /// of the page.
    ///
    /// - Throws: `ProcessError` with the page's text if the expression does not become true in time.
    public func wait(until condition: String, within: Duration = TestTimeout.duration) async throws(ProcessError) {
        let promise = """
            new Promise((resolve) => {
              const observer = new MutationObserver(check);
              const deadline = setTimeout(() => end(false), \(within.wholeMilliseconds));
              function end(holds) { observer.disconnect(); clearTimeout(deadline); resolve(holds); }
              function check() { if (\(condition)) end(true); }
              observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
              check();
            })
            """
        guard try await value(promise).root.bool == true else {
            throw ProcessError(
                "condition not true within \(within): \(condition); text of the page: \(try await text(Self.pageText))")
        }
    }

    private static let pageText = "document.body.innerText"

    /// Presses and releases a key.
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

    /// Types a text into the focused element.
    public func type(_ text: String) async throws(ProcessError) {
        _ = try await call("Input.insertText") { $0.member("text", text) }
    }

    /// Writes a screenshot of the visible part of the page, as PNG.
    public func writePicture(to path: String) async throws(ProcessError) {
        let answer = try await call("Page.captureScreenshot") { $0.member("format", "png") }
        let text = try answer.result("data")
        let urlText = String(text.map { ["+": "-", "/": "_"][$0] ?? $0 }.prefix { $0 != "=" })
        guard let bytes = Base64URL.decode(urlText) else {
            throw ProcessError("cannot write a screenshot to \(path): Chromium sent invalid base64")
        }
        guard let file = fopen(path, "w") else { throw ProcessError(errno, "cannot write a screenshot to \(path)") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    /// Closes the browser and waits until its process has exited.
    public func close() async throws(ProcessError) {
        _ = try await pipe.call("Browser.close")
        _ = try await pipe.process.exit()
    }

    private func call(
        _ method: String, _ parameters: (inout JSONWriter) -> Void = { _ in }
    ) async throws(ProcessError) -> JSONDocument {
        try await pipe.call(method, session: session, parameters)
    }

    /// Receives all pending events. The browser sends them before the response to the next call.
    private func receivePendingEvents() async throws(ProcessError) {
        _ = try await value("0")
    }

    private func events(_ method: String) -> [JSONValue] {
        pipe.events.filter { $0.root["method"]?.string == method }.compactMap { $0.root["params"] }
    }
}

extension JSONDocument {
    /// Returns a string member of a call's result.
    fileprivate func result(_ key: String) throws(ProcessError) -> String {
        guard let text = root["result"]?[key: key]?.string else { throw ProcessError("Chromium returned no \(key)") }
        return text
    }
}

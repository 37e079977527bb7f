import TestKit

extension ConsolePage {
    /// The answer to a request that the page sends, as a JavaScript expression.
    enum Answer {
        /// A status, and a JavaScript expression that returns the JSON.
        case json(Int, String)
        /// The connection ends without an answer.
        case lost
        case pending

        fileprivate var expression: String {
            switch self {
            case .json(let status, let value):
                "Promise.resolve(new Response(JSON.stringify(\(value)), { status: \(status) }))"
            case .lost: "Promise.reject(new TypeError('lost'))"
            case .pending: "new Promise(() => {})"
            }
        }
    }

    /// Answers requests instead of the console, until the page is loaded again. The bodies are in `window.sent`.
    ///
    /// - Parameter pattern: a regular expression of paths with their queries.
    func intercept(_ method: String, _ pattern: String, _ answer: Answer) async throws {
        try await browser.run(
            """
            window.fetch = ((original) => (path, options) => {
              if (options.method !== '\(method)' || !new RegExp('\(pattern)').test(path)) return original(path, options);
              (window.sent ??= []).push(options.body);
              return \(answer.expression);
            })(window.fetch)
            """)
    }

    /// Opens the dialog that pauses a topic, and waits for its plan.
    func planPause() async throws {
        try await show("now")
        try await browser.run("\(Self.button("Pause…", in: ".head")).click()")
        try await enter("com.example.shop", into: "scope")
        try await enter("wrong campaign", into: "why")
        try await waitForPlan()
    }

    /// Presses the confirmation of the dialog.
    func confirm() async throws {
        try await browser.run("document.querySelector('#action button.main').click()")
    }

    /// Waits until the dialog contains a text.
    func waitForDialog(_ text: String) async throws {
        try await browser.wait(until: "document.querySelector('#action').textContent.includes(`\(text)`)")
    }

    /// Returns whether the tab stores a text.
    func stores(_ text: String) async throws -> Bool {
        try await browser.holds("Object.values({ ...sessionStorage }).join().includes(`\(text)`)")
    }
}

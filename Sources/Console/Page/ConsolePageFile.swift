import AdminHTTP

/// A file of the console's web page, embedded in the executable.
struct ConsolePageFile: Sendable {
    let path: String
    let contentType: String
    let bytes: [UInt8]

    /// Headers of every file. The content security policy forbids content from other origins, inline scripts, frames
    /// around the page, and the conversion of text into markup by scripts.
    static let headers: [(name: String, value: String)] = [
        (
            "content-security-policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ]

    static let all: [ConsolePageFile] = [
        ConsolePageFile(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        ConsolePageFile(path: "/page/icon.svg", contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
        style("controls", PackageResources.controls_css),
        style("dialogs", PackageResources.dialogs_css),
        style("frame", PackageResources.frame_css),
        style("lists", PackageResources.lists_css),
        style("page", PackageResources.page_css),
        style("preferences", PackageResources.preferences_css),
        script("actions", PackageResources.actions_js),
        script("announcer", PackageResources.announcer_js),
        script("api", PackageResources.api_js),
        script("apps", PackageResources.apps_js),
        script("audit", PackageResources.audit_js),
        script("bar", PackageResources.bar_js),
        script("copy", PackageResources.copy_js),
        script("dead", PackageResources.dead_js),
        script("dialog", PackageResources.dialog_js),
        script("dom", PackageResources.dom_js),
        script("draw", PackageResources.draw_js),
        script("editor", PackageResources.editor_js),
        script("feed", PackageResources.feed_js),
        script("fields", PackageResources.fields_js),
        script("find", PackageResources.find_js),
        script("fleet", PackageResources.fleet_js),
        script("header", PackageResources.header_js),
        script("keyboard", PackageResources.keyboard_js),
        script("keys", PackageResources.keys_js),
        script("login", PackageResources.login_js),
        script("now", PackageResources.now_js),
        script("outcome", PackageResources.outcome_js),
        script("page", PackageResources.page_js),
        script("paging", PackageResources.paging_js),
        script("parts", PackageResources.parts_js),
        script("pauses", PackageResources.pauses_js),
        script("queues", PackageResources.queues_js),
        script("redrive", PackageResources.redrive_js),
        script("reveal", PackageResources.reveal_js),
        script("router", PackageResources.router_js),
        script("run", PackageResources.run_js),
        script("samples", PackageResources.samples_js),
        script("session", PackageResources.session_js),
        script("sparkline", PackageResources.sparkline_js),
        script("stored", PackageResources.stored_js),
        script("table", PackageResources.table_js),
        script("test", PackageResources.test_js),
        script("waits", PackageResources.waits_js),
        script("watch", PackageResources.watch_js),
        script("wizard", PackageResources.wizard_js),
        script("words", PackageResources.words_js),
        script("workers", PackageResources.workers_js),
    ]

    private static func style(_ name: String, _ bytes: [UInt8]) -> ConsolePageFile {
        ConsolePageFile(path: "/page/\(name).css", contentType: "text/css; charset=utf-8", bytes: bytes)
    }

    private static func script(_ name: String, _ bytes: [UInt8]) -> ConsolePageFile {
        ConsolePageFile(path: "/page/\(name).js", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    /// The routes of all files, which need no session.
    static var routes: [AdminRoute] {
        all.map { file in
            var response = AdminResponse(contentType: file.contentType, body: file.bytes)
            response.headers = headers
            let page = response
            return AdminRoute(.get, file.path, isListed: file.path == "/", "the web page") { _ in page }
        }
    }
}

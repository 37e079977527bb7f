/// A file of the web page, embedded in the executable. The admin port serves it.
struct PageFile: Sendable {
    let path: String
    let contentType: String
    let bytes: [UInt8]

    /// Headers of every file. The content security policy forbids content from other origins, inline scripts, and
    /// frames around the page. It also forbids the conversion of text into markup by scripts.
    static let headers: [(name: String, value: String)] = [
        (
            "content-security-policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("cache-control", "no-cache"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ]

    static func at(_ path: String) -> PageFile? {
        all.first { $0.path == path }
    }

    static let all: [PageFile] = [
        PageFile(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        PageFile(path: "/icon.svg", contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
        style("detail", PackageResources.detail_css),
        style("frame", PackageResources.frame_css),
        style("lockscreen", PackageResources.lockscreen_css),
        style("page", PackageResources.page_css),
        style("preferences", PackageResources.preferences_css),
        style("requests", PackageResources.requests_css),
        style("side", PackageResources.side_css),
        style("world", PackageResources.world_css),
        script("api", PackageResources.api_js),
        script("arrival", PackageResources.arrival_js),
        script("clock", PackageResources.clock_js),
        script("connections", PackageResources.connections_js),
        script("copy", PackageResources.copy_js),
        script("curl", PackageResources.curl_js),
        script("detail", PackageResources.detail_js),
        script("dom", PackageResources.dom_js),
        script("explain", PackageResources.explain_js),
        script("faults", PackageResources.faults_js),
        script("feed", PackageResources.feed_js),
        script("guide", PackageResources.guide_js),
        script("jsontext", PackageResources.jsontext_js),
        script("lockscreen", PackageResources.lockscreen_js),
        script("notification", PackageResources.notification_js),
        script("outcome", PackageResources.outcome_js),
        script("page", PackageResources.page_js),
        script("record", PackageResources.record_js),
        script("requests", PackageResources.requests_js),
        script("search", PackageResources.search_js),
        script("teams", PackageResources.teams_js),
        script("words", PackageResources.words_js),
        script("world", PackageResources.world_js),
    ]

    private static func style(_ name: String, _ bytes: [UInt8]) -> PageFile {
        PageFile(path: "/\(name).css", contentType: "text/css; charset=utf-8", bytes: bytes)
    }

    private static func script(_ name: String, _ bytes: [UInt8]) -> PageFile {
        PageFile(path: "/\(name).js", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}

import Glibc
import TestKit

/// An SVG image with charts in a row.
struct ChartSheet {
    private static let captionHeight = 40.0

    private let charts: [LineChart]
    /// The text below the charts.
    private let caption: String?

    init(_ charts: LineChart..., caption: String? = nil) {
        (self.charts, self.caption) = (charts, caption)
    }

    func write(to path: String) throws {
        guard let file = fopen(path, "w") else { throw ProcessError(errno, "cannot write \(path)") }
        let written = fputs(svg, file)
        guard fclose(file) == 0, written >= 0 else { throw ProcessError(errno, "cannot write \(path)") }
    }

    private var svg: String {
        let width = charts.map(\.width).reduce(0, +)
        let height = LineChart.height + (caption == nil ? 0 : Self.captionHeight)
        var left = 0.0
        var parts: [String] = []
        for chart in charts {
            parts.append("<g transform=\"translate(\(Int(left)) 0)\">\n\(chart.svg)\n</g>")
            left += chart.width
        }
        if let caption {
            parts.append(
                """
                <text x="\(Int(width / 2))" y="\(Int(height - 16))" text-anchor="middle" font-size="13" fill="#666">\
                \(caption.escapedForSVG)</text>
                """)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" \
            font-family="system-ui, sans-serif" font-size="15" fill="#222">
            <rect width="100%" height="100%" fill="#fff"/>
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }
}

extension String {
    var escapedForSVG: String { replacing("&", with: "&amp;").replacing("<", with: "&lt;") }
}

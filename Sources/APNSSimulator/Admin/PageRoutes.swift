import AdminHTTP

/// The routes of the web page.
struct PageRoutes {
    var all: [AdminRoute] {
        PageFile.all.map { file in
            var response = AdminResponse(contentType: file.contentType, body: file.bytes)
            response.headers = PageFile.headers
            let page = response
            return AdminRoute(.get, file.path, isListed: file.path == "/", "the web page") { _ in page }
        }
    }
}

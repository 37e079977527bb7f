/// Help texts of the commands that publish messages again.
enum ResendText {
    static let filters = """
        Filters are written as for martlet dead-letters: 'code == "TooManyRequests" && app == "com.example.app"'. Fields
        that a message does not have are null.
        """
}

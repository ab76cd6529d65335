"""HTTP around the routes: authentication, guard and errors."""
